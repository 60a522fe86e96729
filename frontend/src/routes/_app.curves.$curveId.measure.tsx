import { createFileRoute } from '@tanstack/react-router'
import { NewVersionPage } from '~/features/curves/NewVersionPage'

export const Route = createFileRoute('/_app/curves/$curveId/measure')({ component: MeasureRoute })

function MeasureRoute() {
  const { curveId } = Route.useParams()
  return <NewVersionPage curveId={curveId} />
}
