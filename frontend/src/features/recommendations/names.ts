/** Names of objectives, in the order they are offered. */

import type { Recommendation } from '~/api/types'
import { lookBack } from '~/lib/performance'
import { strings } from './strings'

export const OBJECTIVES: Record<string, string> = {
  loss: strings.objectiveMean,
  slowdown: strings.objectiveSlowdown,
  fair: strings.objectiveFair,
  worst_first: strings.objectiveWorstFirst,
}

/** Names of risk measures, in the order they are offered. */
export const RISKS: Record<string, string> = {
  mean: strings.riskOfMean,
  p99: strings.riskOfP99,
  cvar: strings.riskOfTail,
}

/** The measure of a path's round trips by which it counts, as part of a sentence. */
export const COUNTED = { mean: strings.riskMean, p99: strings.riskP99, cvar: strings.riskTail }

/** Return a sentence with the period and the statistic behind the performances of a recommendation. */
export function basisOf({ request: { minutes, risk }, result: { evidence } }: Recommendation): string {
  const period = lookBack(minutes)
  return risk
    ? strings.performanceBasisRisk(period, COUNTED[risk])
    : strings.performanceBasis(period, evidence.statistic)
}
