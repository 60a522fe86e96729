/** Results of simulations for charts and tables. */

import type { PolicyOutcome, Simulation } from '~/api/types'
import type { Points } from '~/charts/curve/geometry'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { strings } from './strings'

const LEAST_S = 1e-4

/** Return the policy of the largest area. */
export function best<T extends Simulation['policies'][number]>(policies: readonly T[]): T | undefined {
  return policies.reduce<T | undefined>(
    (top, outcome) => (top && top.area_percent >= outcome.area_percent ? top : outcome),
    undefined,
  )
}

/** Return the share at or below each value of a list of quantiles. */
export function distributionOf(values: number[]): Points {
  return { x: values, y: values.map((_, at) => at / (values.length - 1)) }
}

/** The subject of a distribution: the performance of jobs, or one of the figures 6.6 to 6.9 of the source. */
export type Measure = 'scores' | keyof NonNullable<PolicyOutcome['distributions']>

/** Return the measures that at least one policy has values of, in the order of the source's figures. */
export function measuresOf(policies: readonly PolicyOutcome[]): Measure[] {
  const order: Measure[] = ['scores', 'solver_s', 'round_s', 'moved_share', 'placement_latency_s', 'response_s']
  return order.filter((measure) => policies.some((outcome) => valuesOf(outcome, measure).length > 0))
}

/** Return the quantiles of a policy at every percent. */
export function valuesOf(outcome: PolicyOutcome, measure: Measure): number[] {
  return measure === 'scores' ? outcome.scores : (outcome.distributions?.[measure] ?? [])
}

/** Return the decades of seconds that all values lie within, at least 0.1 ms: 0.003 to 40 → [-3, 2]. */
export function decades(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value >= LEAST_S)
  if (positive.length === 0) return [Math.log10(LEAST_S), 0]
  return [Math.floor(Math.log10(Math.min(...positive))), Math.ceil(Math.log10(Math.max(...positive)) + 1e-9)]
}

/** Return seconds as decades; shorter ones than 0.1 ms count as that. */
export function decade(seconds: number): number {
  return Math.log10(Math.max(LEAST_S, seconds))
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
