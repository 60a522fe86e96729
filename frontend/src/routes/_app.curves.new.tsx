import { createFileRoute } from '@tanstack/react-router'
import { NewCurvePage } from '~/features/curves/NewCurvePage'

export const Route = createFileRoute('/_app/curves/new')({ component: NewCurvePage })
