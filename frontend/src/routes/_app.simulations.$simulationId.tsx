import { createFileRoute } from '@tanstack/react-router'
import { SimulationPage } from '~/features/simulations/SimulationPage'

export const Route = createFileRoute('/_app/simulations/$simulationId')({ component: SimulationRoute })

function SimulationRoute() {
  return <SimulationPage simulationId={Route.useParams().simulationId} />
}
