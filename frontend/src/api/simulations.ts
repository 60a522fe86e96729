/** Reports of simulations. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post, remove } from './client'
import { listing } from './query'
import type { SimulationRun } from './types'

export const simulationsQuery = listing(['simulations'], '/v1/simulations')

/** The report of a simulation, which never changes. */
export const simulationQuery = (simulationId: string) =>
  queryOptions({
    queryKey: ['simulations', simulationId],
    queryFn: () => get('/v1/simulations/{simulation_id}', { path: { simulation_id: simulationId } }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Parameters that the form leaves as they are by default: those of the source. */
const AS_PUBLISHED = {
  slots: 14,
  step_s: 60,
  round_s: 600,
  window_s: 10,
}

export const useRunSimulation = () =>
  useAction(
    (input: SimulationRun, key: string) => post('/v1/simulations/runs', { body: { ...AS_PUBLISHED, ...input }, key }),
    [['jobs']],
  )

export const useDeleteSimulation = () =>
  useAction(
    (id: string) => remove('/v1/simulations/{simulation_id}', { path: { simulation_id: id } }),
    [['simulations']],
  )
