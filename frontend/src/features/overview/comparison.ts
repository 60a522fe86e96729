/** Usual values that were learnt from the time of an incident. */

import type { MeshHealth } from '~/api/overview'
import type { Basis, PairChange } from './deviation'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The time between two stored steps of a basis, and from the newest of them to now, ms. */
const STEPS: Record<Basis, { everyMs: number; agoMs: number }> = {
  last_hour: { everyMs: MINUTE_MS, agoMs: 11 * MINUTE_MS },
  last_day: { everyMs: HOUR_MS, agoMs: 2 * HOUR_MS },
  same_hour: { everyMs: 24 * HOUR_MS, agoMs: 24 * HOUR_MS },
}

interface Lasted {
  onset_at: string
  ended_at: string | null
}

/** Return the number of steps of a usual value that began while an incident lasted. */
function stepsWithin({ basis, steps }: PairChange, { onset_at, ended_at }: Lasted, nowMs: number): number {
  if (basis === null) return 0
  const { everyMs, agoMs } = STEPS[basis]
  const newest = nowMs - agoMs
  const before = (at: string) => Math.ceil((newest - Date.parse(at)) / everyMs)
  const since = Math.min(steps, Math.max(0, before(onset_at)))
  return since - (ended_at === null ? 0 : Math.min(since, Math.max(0, before(ended_at))))
}

/** Return the incidents that are open, or were within 24 hours. */
function incidentsOf({ worst_incidents, recent_incidents }: MeshHealth): Lasted[] {
  return [...worst_incidents.map(({ onset_at }) => ({ onset_at, ended_at: null })), ...recent_incidents]
}

/**
 * Return whether a usual value is that of an incident: half of its steps or more began while one lasted. Its median then
 * is no longer that of the time without, and the incident looks usual.
 */
export function isCovered(change: PairChange, mesh: MeshHealth, nowMs: number): boolean {
  const { basis, steps } = change
  return basis !== null && incidentsOf(mesh).some((one) => 2 * stepsWithin(change, one, nowMs) >= steps)
}
