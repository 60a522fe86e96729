import { createFileRoute } from '@tanstack/react-router'
import { EvidencePage } from '~/features/alerts/incidents/EvidencePage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/incidents/$incidentId_/evidence')({
  staticData: { title: strings.evidence, help: 'alerts#evidence-for-the-provider' },
  component: EvidenceRoute,
})

function EvidenceRoute() {
  return <EvidencePage incidentId={Route.useParams().incidentId} />
}
