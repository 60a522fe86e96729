/** Formats of performance: shares of the best, microseconds added to the round trip. */

import { strings } from './strings'
import { type Clock, formatMoments } from './time'
import { formatCount, formatDelay, NO_VALUE } from './units'

/** Round trips that a performance was predicted from; without minutes the newest window of each path. */
export interface Basis {
  statistic: string
  window: { from: string | null; to: string | null }
  minutes?: number | null
  windows?: number
}

/** The statistic of the round trips behind every current performance that states none. */
export const NEWEST_STATISTIC = 'p50'

/** Return the sentence with the basis of performances at the newest windows, which have different times. */
export const performanceAtNewest = strings.performanceAtNewest

/** Return a sentence with the statistic and the period behind a performance. */
export function performanceBasis({ statistic, window: { from, to }, minutes, windows = 1 }: Basis, clock: Clock) {
  if (!from || !to) return strings.performanceAtNewest(statistic)
  const window = formatMoments(new Date(from), new Date(to), clock)
  if (minutes == null) return strings.performanceAtNewestOf(statistic, window)
  const count = windows === 1 ? strings.oneWindow : strings.windowCount(formatCount(windows))
  return strings.performanceAtMean(statistic, count, lookBack(minutes), window)
}

/** Name a look-back: 30 → "the last 30 min", 120 → "the last 2 h". */
export function lookBack(minutes: number): string {
  return minutes >= 60 && minutes % 60 === 0 ? strings.lastHours(minutes / 60) : strings.lastMinutes(minutes)
}

/** Format a share of the best performance: 0.7968 → "79.7 %". */
export function formatShare(share: number | null | undefined): string {
  return share == null || !Number.isFinite(share) ? NO_VALUE : `${(share * 100).toFixed(1)} %`
}

/** Name the line of the last 24 hours of an application. */
export const dayOf = (name: string, usual: number | null) => strings.dayOf(name, formatShare(usual))

/** Format lost performance, a share of the best, in points: 0.361 → "36.1 points". */
export function formatPoints(share: number | null | undefined): string {
  return share == null || !Number.isFinite(share) ? NO_VALUE : `${(share * 100).toFixed(1)} points`
}

/** Format a probability in whole per cent, never as certain: 0.934 → "93 %", 0.995 → "> 99 %", 0.005 → "< 1 %". */
export function formatProbability(probability: number | null | undefined): string {
  if (probability == null || !Number.isFinite(probability)) return NO_VALUE
  const percent = Math.round(probability * 100)
  return percent >= 100 || probability > 0.99 ? '> 99 %' : percent < 1 ? '< 1 %' : `${percent} %`
}

/** Format a change of performance, a share of the best, in points, its sign always written: −0.123 → "−12.3 points". */
export function formatChange(change: number | null | undefined): string {
  if (change == null || !Number.isFinite(change)) return NO_VALUE
  const points = (Math.abs(change) * 100).toFixed(1)
  if (points === '0.0') return '±0 points'
  return `${change < 0 ? '−' : '+'}${points} points`
}

/** Format the bounds of an interval of shares, rounded outward: (0.99964, 1) → "99.9 %" and "100.0 %". */
export function formatShares(low: number | null | undefined, high: number | null | undefined): [string, string] {
  return [formatShare(outward(low, -1)), formatShare(outward(high, 1))]
}

/** Format the bounds of an interval of changes, rounded outward: (−0.0001, 0.12) → "−0.1" and "+12.0 points". */
export function formatChanges(low: number | null | undefined, high: number | null | undefined): [string, string] {
  return [formatChange(outward(low, -1)).replace(/\spoints/, ''), formatChange(outward(high, 1))]
}

/** Return a bound in tenths of a per cent: rounded to the nearest, an interval might lose its width. */
function outward(bound: number | null | undefined, direction: -1 | 1): number | null | undefined {
  // What is a whole number of tenths but for its last digits stays.
  return bound == null ? bound : (direction * Math.ceil(direction * bound * 1_000 - 1e-6)) / 1_000
}

/** Microseconds: 40 → "40.0 µs", 1500 → "1.50 ms". */
export function formatMicroseconds(us: number | null | undefined): string {
  return formatDelay(us == null ? us : us * 1_000)
}

/** Microseconds for axes, without needless digits: 250 → "250 µs", 0 → "0". */
export function formatTick(us: number): string {
  return us === 0 ? '0' : us >= 10_000 ? `${us / 1_000} ms` : `${us} µs`
}
