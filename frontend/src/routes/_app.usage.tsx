import { createFileRoute } from '@tanstack/react-router'
import { UsagePage } from '~/features/settings/UsagePage'

export const Route = createFileRoute('/_app/usage')({ component: UsagePage })
