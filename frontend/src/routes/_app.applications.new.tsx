import { createFileRoute } from '@tanstack/react-router'
import { NewApplicationPage } from '~/features/applications/NewApplicationPage'

export const Route = createFileRoute('/_app/applications/new')({ component: NewApplicationPage })
