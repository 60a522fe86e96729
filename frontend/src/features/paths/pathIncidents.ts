/** The incidents that include a path, and their times on its charts. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type IncidentSummary, incidentsQuery } from '~/api/incidents'
import { rosterQuery } from '~/api/meshes'
import type { Span } from '~/charts/series/spans'
import { coversPath } from '~/lib/culprits'
import { strings } from './strings'
import { zonePairOf } from './zones'

/** Return the query of the newest incidents of a mesh with those that include a path. */
export function usePathIncidents(meshId: string, source: string, target: string) {
  const { data: roster } = useQuery(rosterQuery(meshId))
  const query = useQuery(incidentsQuery(meshId, ['open', 'acknowledged', 'resolved']))
  const data = useMemo(() => {
    const zones = roster && zonePairOf(roster, source, target)
    const ends = [
      { id: source, zoneId: zones?.[0].id ?? '' },
      { id: target, zoneId: zones?.[1].id ?? '' },
    ] as const
    return query.data?.filter(({ culprit }) => coversPath(culprit, ...ends))
  }, [query.data, roster, source, target])
  return { ...query, data }
}

/** Return the times of incidents (s since 1970); an open one lasts until `nowMs`. */
export const incidentSpans = (
  incidents: readonly Pick<IncidentSummary, 'onset_at' | 'ended_at' | 'severity'>[],
  nowMs: number,
): Span[] =>
  incidents.map(({ onset_at, ended_at, severity }) => ({
    from: Date.parse(onset_at) / 1_000,
    to: (ended_at ? Date.parse(ended_at) : nowMs) / 1_000,
    label: strings.incident,
    colour: severity === 'critical' ? 'var(--bad)' : 'var(--warn)',
  }))
