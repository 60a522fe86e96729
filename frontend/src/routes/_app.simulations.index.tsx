import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { SimulationsPage } from '~/features/simulations/SimulationsPage'

export const Route = createFileRoute('/_app/simulations/')({
  staticData: { title: strings.simulations, help: 'simulation' },
  component: SimulationsPage,
})
