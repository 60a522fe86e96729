import { createFileRoute } from '@tanstack/react-router'
import { NewVersionPage } from '~/features/curves/NewVersionPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/curves/$curveId/measure')({
  staticData: { title: strings.newCurveVersion, help: 'curves#fitting-your-own-measurements' },
  component: MeasureRoute,
})

function MeasureRoute() {
  const { curveId } = Route.useParams()
  return <NewVersionPage curveId={curveId} />
}
