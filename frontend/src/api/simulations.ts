/** Reports of simulations. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { client, everyItem, page, unwrap } from './client'

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

export const useDeleteSimulation = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/simulations/{simulation_id}', { params: { path: { simulation_id: id } } })),
    [['simulations']],
  )
