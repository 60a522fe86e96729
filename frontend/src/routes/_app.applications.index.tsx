import { createFileRoute } from '@tanstack/react-router'
import { ApplicationsPage } from '~/features/applications/ApplicationsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/applications/')({
  staticData: { title: strings.applications, help: 'recommendations' },
  component: ApplicationsPage,
})
