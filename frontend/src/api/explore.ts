/** Queries of the explore page: series, distribution, variability, losses, largest changes, spikes. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Granularity, Metric, Statistic } from '~/lib/dimensions'
import { rangeOf, type TimeRange, type TimeSearch } from '~/lib/spans'
import { client, get, unwrap } from './client'
import { responseOrOutput } from './jobs'
import type { Distribution, Losses, ManySeries, Spikes, Variability } from './types'

export interface ExploreParameters {
  selections: string[]
  time: TimeSearch
  metric: Metric
  statistic: Statistic
  by: Granularity
  interval: '1h' | '1d'
}

/** The length of a range of the explore page that names none. */
export const EXPLORE_SPAN = '1h' as const

/** Return the range of a view of Explore. */
export const exploreRange = ({ time }: ExploreParameters): TimeRange => rangeOf(time, EXPLORE_SPAN)

/** The query parameters of each view, in the form of the API. */
export const QUERY = {
  series: (parameters: ExploreParameters) => ({
    ...exploreRange(parameters),
    selections: parameters.selections,
    metric: parameters.metric,
    statistics: [parameters.statistic],
    points: 600,
  }),
  distribution: (parameters: ExploreParameters) => ({
    ...exploreRange(parameters),
    selections: parameters.selections,
    metric: parameters.metric === 'round_trip' ? ('round_trip' as const) : ('one_way_delay' as const),
  }),
  variability: (parameters: ExploreParameters) => QUERY.distribution(parameters),
  losses: (parameters: ExploreParameters) => ({
    ...exploreRange(parameters),
    selections: parameters.selections,
    interval: parameters.interval,
  }),
  movers: (parameters: ExploreParameters) => ({
    ...exploreRange(parameters),
    by: parameters.by,
    metric: 'deviation' as const,
  }),
  spikes: (parameters: ExploreParameters) => {
    const range = exploreRange(parameters)
    const [kind, source, target] = (parameters.selections[0] ?? 'mesh').split(':')
    if (kind === 'path' && source && target) return { ...range, source_vm_id: source, target_vm_id: target }
    if (kind === 'zones' && source && target) return { ...range, source_zone_id: source, target_zone_id: target }
    return range
  },
}

/** Return the URL of a view as a file. */
export function fileOf(
  meshId: string,
  view: keyof typeof QUERY,
  parameters: ExploreParameters,
  format: string,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(QUERY[view](parameters))) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item))
  }
  if (view === 'spikes') query.delete('limit')
  query.set('format', format)
  return `/v1/meshes/${meshId}/${view === 'movers' ? 'matrix' : view}?${query}`
}

const key = (meshId: string, view: string, parameters: unknown) => ['meshes', meshId, 'range', view, parameters]
const path = (meshId: string) => ({ mesh_id: meshId })

/** A view of a mesh in a range; a job may compute it. */
const viewQuery =
  <T>(view: 'series' | 'distribution' | 'variability' | 'losses', staleTime: number) =>
  (meshId: string, parameters: ExploreParameters) =>
    queryOptions({
      queryKey: key(meshId, view, parameters),
      queryFn: (context) => {
        const params = { path: path(meshId), query: QUERY[view](parameters) }
        return responseOrOutput<T>(
          client.GET(`/v1/meshes/{mesh_id}/${view}`, { params, signal: context.signal } as never),
          context,
        )
      },
      placeholderData: keepPreviousData,
      staleTime,
    })

export const manySeriesQuery = viewQuery<ManySeries>('series', 10_000)

/** The last hour of some paths, minute by minute: one request for the sparklines of a list. */
export const lastHoursQuery = (meshId: string, selections: readonly string[]) =>
  queryOptions({
    queryKey: key(meshId, 'last-hours', selections),
    queryFn: (context) => {
      const query = { ...rangeOf({}, '1h'), selections, statistics: ['p50', 'p99', 'max'], points: 60 }
      const params = { path: path(meshId), query }
      return responseOrOutput<ManySeries>(
        client.GET('/v1/meshes/{mesh_id}/series', { params, signal: context.signal } as never),
        context,
      )
    },
    enabled: selections.length > 0,
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  })

export const distributionQuery = viewQuery<Distribution>('distribution', 10_000)
export const variabilityQuery = viewQuery<Variability>('variability', 30_000)
export const lossesQuery = viewQuery<Losses>('losses', 30_000)

export const spikesQuery = (meshId: string, parameters: ExploreParameters) =>
  queryOptions({
    queryKey: key(meshId, 'spikes', parameters),
    queryFn: () =>
      unwrap<Spikes>(
        // The contract also names file formats; without a format the response is a page.
        client.GET('/v1/meshes/{mesh_id}/spikes', {
          params: { path: path(meshId), query: { ...QUERY.spikes(parameters), limit: 200 } },
        }) as Promise<{ data?: Spikes; error?: unknown; response: Response }>,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

export const spikeQuery = (meshId: string, spikeId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'spike', spikeId],
    queryFn: () => get('/v1/meshes/{mesh_id}/spikes/{spike_id}', { path: { mesh_id: meshId, spike_id: spikeId } }),
    staleTime: Number.POSITIVE_INFINITY,
  })
