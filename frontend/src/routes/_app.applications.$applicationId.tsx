import { createFileRoute } from '@tanstack/react-router'
import { ApplicationPage } from '~/features/applications/ApplicationPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/applications/$applicationId')({
  staticData: { title: strings.application, help: 'recommendations#options' },
  component: ApplicationRoute,
})

function ApplicationRoute() {
  const { applicationId } = Route.useParams()
  return <ApplicationPage applicationId={applicationId} />
}
