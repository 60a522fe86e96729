import { createFileRoute } from '@tanstack/react-router'
import { IncidentPage } from '~/features/alerts/incidents/IncidentPage'

export const Route = createFileRoute('/_app/incidents/$incidentId')({ component: IncidentRoute })

function IncidentRoute() {
  return <IncidentPage incidentId={Route.useParams().incidentId} />
}
