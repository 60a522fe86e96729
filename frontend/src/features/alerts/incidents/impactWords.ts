/** Texts of the affected paths of an incident, and what the chart shows. */

import type { Impact, Incident } from '~/api/incidents'
import type { Series } from '~/api/types'
import { NOW, type TimeSearch } from '~/lib/spans'
import { formatDelay, formatRatio, formatSignedDelay, formatSignedRatio, NO_VALUE } from '~/lib/units'

/** Paths that do not vary by this much are as usual, ns. */
export const UNUSUAL_NS = 5_000

/** Return a value of a metric in words. */
export const valueWords = (metric: Impact['metric'], value: number | null | undefined) =>
  metric === 'loss' ? formatRatio(value) : formatDelay(value)

/** Return the change of a value from usual in words: "+391 µs". */
export function changeWords(metric: Impact['metric'], value: number | null, usual: number | null): string {
  if (value === null || usual === null) return NO_VALUE
  return (metric === 'loss' ? formatSignedRatio : formatSignedDelay)(value - usual)
}

/** Return the values of a path that an incident is about; null for a metric that has no series. */
export function valuesOf(series: Series, metric: Impact['metric']): (number | null)[] | null {
  const { outbound, inbound, round_trip } = series
  switch (metric) {
    case 'one_way_delay':
      return outbound.delay_ns
    case 'round_trip':
      return round_trip.delay_ns
    case 'loss':
      // Where nothing came back, nobody knows which direction lost it: all is lost, as alert rules count it.
      return outbound.loss.map((loss, at) => loss ?? (round_trip.loss[at] === 1 ? 1 : null))
    case 'clock_error':
      return outbound.clock_error_ns
    case 'asymmetry':
      return outbound.delay_ns.map((delay, at) => {
        const back = inbound.delay_ns[at]
        return delay == null || back == null ? null : Math.abs(delay - back)
      })
    case 'jitter':
      return null
  }
}

const MINUTE_MS = 60_000
const LEAST_MS = 10 * MINUTE_MS
const MOST_MS = 6 * 3_600_000

/** Return whole minutes around an incident, ms since 1970: half its length before and after it, to now at most. */
export function timeAround({ onset_at, ended_at }: Pick<Incident, 'onset_at' | 'ended_at'>, now: number) {
  const [onset, end] = [Date.parse(onset_at), ended_at ? Date.parse(ended_at) : now]
  const around = Math.min(Math.max((end - onset) / 2, LEAST_MS), MOST_MS)
  const [from, to] = [onset - around, ended_at ? Math.min(end + around, now) : now]
  return { from: Math.floor(from / MINUTE_MS) * MINUTE_MS, to: Math.ceil(to / MINUTE_MS) * MINUTE_MS }
}

/** Return the time around an incident as links to its paths hold it. */
export function linkTime(incident: Pick<Incident, 'onset_at' | 'ended_at'>): TimeSearch {
  const { onset_at, ended_at } = incident
  if (!ended_at) return { ...NOW, from: new Date(Date.parse(onset_at) - LEAST_MS).toISOString() }
  const { from, to } = timeAround(incident, Number.POSITIVE_INFINITY)
  return { ...NOW, from: new Date(from).toISOString(), until: new Date(to).toISOString() }
}
