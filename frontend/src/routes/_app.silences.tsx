import { createFileRoute } from '@tanstack/react-router'
import { SilencesPage } from '~/features/alerts/silences/SilencesPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/silences')({
  staticData: { title: strings.silences, help: 'alerts#silences' },
  component: SilencesPage,
})
