/** Since when a path has been unusual, in words. */

import { strings } from './strings'
import { type Clock, formatAge, formatShortMoment } from './time'
import { formatDelay } from './units'

export interface Onset {
  /** RFC 3339. */
  onset_at: string
  /** False when the change is older than `onset_at`. */
  is_onset_known: boolean
}

/** Return "since 10:42 UTC", or "for more than 24 h". */
export function sinceWords({ onset_at, is_onset_known }: Onset, clock: Clock, now: number): string {
  if (is_onset_known) return strings.since(formatShortMoment(onset_at, clock, now))
  return strings.longerThan(formatAge(now - Date.parse(onset_at)))
}

/** Return "risen from 60.0 µs to 412 µs since 10:42 UTC". */
export function changeWords(usualNs: number | null, nowNs: number | null, since: string): string {
  if (usualNs === null || nowNs === null) return since
  const between = [formatDelay(usualNs), formatDelay(nowNs)] as const
  return nowNs < usualNs ? strings.fallenSince(...between, since) : strings.risenSince(...between, since)
}
