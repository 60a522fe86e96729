import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { SimulationPage } from '~/features/simulations/SimulationPage'

export const Route = createFileRoute('/_app/simulations/$simulationId')({
  staticData: { title: strings.simulation, help: 'simulation#the-report-in-sinemora' },
  component: SimulationRoute,
})

function SimulationRoute() {
  return <SimulationPage simulationId={Route.useParams().simulationId} />
}
