/** Reports of simulations. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { SimulationRun } from './types'

export const simulationsQuery = queryOptions({
  queryKey: ['simulations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/simulations', { params: { query: page(cursor) } }))),
})

/** The report of a simulation, which never changes. */
export const simulationQuery = (simulationId: string) =>
  queryOptions({
    queryKey: ['simulations', simulationId],
    queryFn: () =>
      unwrap(client.GET('/v1/simulations/{simulation_id}', { params: { path: { simulation_id: simulationId } } })),
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
    (input: SimulationRun, key: string) =>
      unwrap(client.POST('/v1/simulations/runs', { body: { ...AS_PUBLISHED, ...input }, headers: once(key) })),
    [['jobs']],
  )

export const useDeleteSimulation = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/simulations/{simulation_id}', { params: { path: { simulation_id: id } } })),
    [['simulations']],
  )
