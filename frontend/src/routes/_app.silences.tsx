import { createFileRoute } from '@tanstack/react-router'
import { SilencesPage } from '~/features/alerts/silences/SilencesPage'

export const Route = createFileRoute('/_app/silences')({ component: SilencesPage })
