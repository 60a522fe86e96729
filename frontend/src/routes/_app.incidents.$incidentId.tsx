import { createFileRoute } from '@tanstack/react-router'
import { IncidentPage } from '~/features/alerts/incidents/IncidentPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/incidents/$incidentId')({
  staticData: { title: strings.incident, help: 'alerts#incidents' },
  component: IncidentRoute,
})

function IncidentRoute() {
  return <IncidentPage incidentId={Route.useParams().incidentId} />
}
