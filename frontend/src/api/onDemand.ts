/** Measurements of one pair on demand. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post } from './client'
import { ON_DEMAND as KEY } from './live'
import type { OnDemand, OnDemandInput } from './types'

/** Without live events a running measurement is read this often. */
const REFETCH_MS = 2_000

export const isOver = ({ status }: Pick<OnDemand, 'status'>) =>
  status === 'completed' || status === 'stopped' || status === 'no_data'

/** A measurement with its seconds so far. Live events refetch it; without them it is polled until it is over. */
export const onDemandQuery = (id: string) =>
  queryOptions({
    queryKey: [KEY, id],
    queryFn: () => get('/v1/on-demand-measurements/{measurement_id}', { path: { measurement_id: id } }),
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : REFETCH_MS),
  })

/** The measurements of a path, newest first; read again until all are over. */
export const onDemandListQuery = (meshId: string, source: string, target: string) =>
  queryOptions({
    queryKey: [KEY, 'of', meshId, source, target],
    queryFn: () =>
      get('/v1/on-demand-measurements', {
        query: { mesh_id: meshId, source_vm_id: source, target_vm_id: target, limit: 20 },
      }),
    refetchInterval: ({ state }) => (state.data?.items.every(isOver) === false ? REFETCH_MS : false),
  })

/** Which source ports are faster, by the sweeps of a path. */
export const sourcePortsQuery = (meshId: string, source: string, target: string, sweeps: number) =>
  queryOptions({
    queryKey: [KEY, 'ports', meshId, source, target, sweeps],
    queryFn: () => get(sourcePortsOf, { path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target } }),
    enabled: sweeps > 0,
  })

/** The operation that a client library reads the advice from. */
export const sourcePortsOf = '/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/source-ports'

export const useMeasureNow = () =>
  useAction((body: OnDemandInput, key) => post('/v1/on-demand-measurements', { body, key }), [[KEY, 'of']])

export const useStopMeasuring = (id: string) =>
  useAction(
    (_: null, key) => post('/v1/on-demand-measurements/{measurement_id}/stop', { path: { measurement_id: id }, key }),
    [[KEY]],
  )

/** The address of all exchanges of a measurement as CSV. */
export const exchangesOf = (id: string) => `/v1/on-demand-measurements/${id}/exchanges`
