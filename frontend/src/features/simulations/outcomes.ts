/** Results of simulations for charts and tables. */

import type { PolicyOutcome, Simulation } from '~/api/types'
import type { Points } from '~/charts/curve/geometry'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { strings } from './strings'

/** Return the policy of the largest area. */
export function best<T extends Simulation['policies'][number]>(policies: readonly T[]): T | undefined {
  return policies.reduce<T | undefined>(
    (top, outcome) => (top && top.area_percent >= outcome.area_percent ? top : outcome),
    undefined,
  )
}

/** Return the share of jobs at or below each score. */
export function distributionOf({ scores }: Pick<PolicyOutcome, 'scores'>): Points {
  return { x: scores, y: scores.map((_, at) => at / (scores.length - 1)) }
}

/** Return the start of the scale of scores: the tenth at or below the worst drawn score. */
export function lowestScore(policies: readonly Pick<PolicyOutcome, 'scores'>[]): number {
  return Math.floor(Math.min(0.9, ...policies.flatMap(({ scores }) => scores.slice(0, 1))) * 10) / 10
}

/** Format seconds in a suitable unit: 0.0021 → "2.10 ms", 4812 → "80.2 min". */
export function formatSeconds(seconds: number): string {
  if (seconds >= 7_200) return formatHours(seconds)
  return seconds >= 600 ? strings.minutes((seconds / 60).toFixed(1)) : formatDelay(seconds * 1e9)
}

/** Hours without needless digits: 3600 → "1 h", 70200 → "19.5 h". */
export function formatHours(seconds: number): string {
  return strings.hours(Number((seconds / 3_600).toFixed(2)))
}

/** Median and tail of seconds. */
export function formatTail(quantiles: PolicyOutcome['solver_s']): string {
  return quantiles ? `${formatSeconds(quantiles.p50)}, ${formatSeconds(quantiles.p99)}` : NO_VALUE
}
