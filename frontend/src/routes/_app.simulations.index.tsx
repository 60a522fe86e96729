import { createFileRoute } from '@tanstack/react-router'
import { SimulationsPage } from '~/features/simulations/SimulationsPage'

export const Route = createFileRoute('/_app/simulations/')({ component: SimulationsPage })
