/** One's own delays on paths of one class: what a published figure is compared with. */

import { queryOptions } from '@tanstack/react-query'
import { classOf, type Delays, delaysOf, type PathClass } from '~/lib/publishedDelays'
import { rangeOf } from '~/lib/spans'
import { client } from './client'
import { zonesQuery } from './inventory'
import { responseOrOutput } from './jobs'
import { rosterQuery } from './meshes'
import type { Distribution, Zone } from './types'

/** More pairs of zones than this are not compared: an answer stays within a second. */
const PAIRS_MAX = 6

export interface ClassDelays {
  provider: string
  pathClass: PathClass
  /** Of the zone pair itself. */
  pair: Delays | null
  /** Of pairs of zones of the mesh of the same provider and class. */
  alike: Delays | null
}

/** Return the zone pairs (of ids) of the provider and class of the first one, which leads. */
export function pairsOfClass(zones: readonly Zone[], source: Zone, target: Zone): [string, string][] {
  const pathClass = classOf(source, target)
  const others = zones.flatMap((from) =>
    zones
      .filter((to) => from.provider === source.provider && to.provider === target.provider)
      .filter((to) => classOf(from, to) === pathClass && !(from.id === source.id && to.id === target.id))
      .map((to): [string, string] => [from.id, to.id]),
  )
  return [[source.id, target.id] as [string, string], ...others].slice(0, PAIRS_MAX)
}

const quantiles = ({ quantiles_ns: { p50, p99 } }: Distribution['items'][number]) =>
  p50 == null || p99 == null ? [] : [{ p50, p99 }]

/** The delays of the last 7 days between two zones, and between zones of the same class; null for unknown zones. */
export const classDelaysQuery = (meshId: string, sourceZone: string, targetZone: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'range', 'class', sourceZone, targetZone],
    queryFn: async (context): Promise<ClassDelays | null> => {
      const { client: cache } = context
      const [all, roster] = await Promise.all([
        cache.ensureQueryData(zonesQuery),
        cache.ensureQueryData(rosterQuery(meshId)),
      ])
      const zones = all.filter(({ id }) => roster.zones.some((zone) => zone.id === id))
      const [source, target] = [sourceZone, targetZone].map((id) => zones.find((zone) => zone.id === id))
      if (!source || !target) return null
      const selections = pairsOfClass(zones, source, target).map(([from, to]) => `zones:${from}:${to}`)
      const { items } = await responseOrOutput<Distribution>(
        client.GET('/v1/meshes/{mesh_id}/distribution', {
          params: {
            path: { mesh_id: meshId },
            query: { ...rangeOf({ span: '7d' }, '7d'), selections, metric: 'one_way_delay' },
          },
          signal: context.signal,
        }),
        context,
      )
      return {
        provider: source.provider,
        pathClass: classOf(source, target),
        pair: delaysOf(items.slice(0, 1).flatMap(quantiles)),
        alike: delaysOf(items.flatMap(quantiles)),
      }
    },
    staleTime: 600_000,
  })
