import { createFileRoute } from '@tanstack/react-router'
import { ApplicationPage } from '~/features/applications/ApplicationPage'

export const Route = createFileRoute('/_app/applications/$applicationId')({ component: ApplicationRoute })

function ApplicationRoute() {
  const { applicationId } = Route.useParams()
  return <ApplicationPage applicationId={applicationId} />
}
