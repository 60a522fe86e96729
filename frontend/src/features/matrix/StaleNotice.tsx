import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { serverNow } from '~/api/connection'
import type { Matrix } from '~/api/matrix'
import { meshHealthQuery } from '~/api/overview'
import type { Mesh, Roster } from '~/api/types'
import type { Granularity } from '~/lib/dimensions'
import { formatAge, formatShortMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import { type Staleness, stalenessOf } from './staleness'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  roster: Roster
  by: Granularity
  matrix: Matrix
}

const NOW_MS = 10_000
/** More zones or zone pairs are counted instead of named. */
const NAMED = 4

/** Say which part of the mesh has no recent window, since when, and where to look; nothing while single VMs lack some. */
export function StaleNotice({ mesh, roster, by, matrix }: Props) {
  // After the picture, which is looked at first.
  const counted = useDeferredValue(useMemo(() => [matrix, roster, by] as const, [matrix, roster, by]))
  const staleness = useMemo(() => stalenessOf(...counted), [counted])
  const { windowEnd } = matrix
  const { data } = useQuery({ ...meshHealthQuery(mesh.id), enabled: staleness.stale > 0 })
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  const isAll = staleness.stale > 0 && staleness.recent === 0 && windowEnd !== null
  const title = isAll
    ? strings.nothingSince(formatShortMoment(windowEnd.toISOString(), clock, now), formatAge(now - windowEnd.getTime()))
    : placesOf(staleness)
  if (!title) return null
  return (
    <Notice tone={isAll ? 'bad' : 'warn'} title={title}>
      {!isAll && strings.stalePaths(formatCount(staleness.stale), formatCount(staleness.paths))}{' '}
      {data && data.agents.silent > 0 && strings.agentsSilent(data.agents)} {strings.lastValues}{' '}
      <Link to="/vms">{strings.seeVms}</Link>
    </Notice>
  )
}

/** Return the stale zones or zone pairs in words; empty without any. */
function placesOf({ zones, pairs }: Staleness): string {
  if (zones.length > 0) {
    return strings.staleZones(zones.length <= NAMED ? zones : [strings.zoneCount(zones.length)])
  }
  if (pairs.length === 0) return ''
  const named = pairs.slice(0, NAMED).map(({ from, to }) => `${from} → ${to}`)
  return strings.stalePairs(pairs.length <= NAMED ? named : [strings.pairCount(pairs.length)])
}
