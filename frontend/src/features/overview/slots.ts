/** Hours of the last day, with the incidents in each. */

import type { MeshHealth, RecentIncident } from '~/api/overview'
import { bySeverity, type Severity } from '~/ui/severity'

const HOUR_MS = 3_600_000
const SLOTS = 24

export interface Slot {
  from: number
  to: number
  /** The worst severity in the slot; `null` without an incident. */
  severity: Severity | null
  incidents: RecentIncident[]
  /** Alert rules were evaluated for a part of the slot, so no incident means that there was none. */
  isKnown: boolean
}

type Times = Pick<MeshHealth, 'recent_incidents' | 'evaluated_since' | 'evaluated_until'>

/** Return the last 24 hours on the clock; the last one contains `now`. */
export function slotsOf({ recent_incidents, evaluated_since, evaluated_until }: Times, now: number): Slot[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS
  const known = [evaluated_since, evaluated_until].map((at) => (at === null ? Number.NaN : Date.parse(at)))
  const [since = Number.NaN, until = Number.NaN] = known
  return Array.from({ length: SLOTS }, (_, index) => {
    const from = last - (SLOTS - 1 - index) * HOUR_MS
    const to = from + HOUR_MS
    const seen = recent_incidents.filter(
      ({ onset_at, ended_at }) => Date.parse(onset_at) < to && (ended_at === null ? now : Date.parse(ended_at)) >= from,
    )
    // An incident that returns is there once for each time it was seen.
    const incidents = [...new Map(seen.map((incident) => [incident.id, incident])).values()]
    const [severity = null] = incidents.map((incident) => incident.severity).sort(bySeverity)
    return { from, to, severity, incidents, isKnown: since < to && until >= from }
  })
}
