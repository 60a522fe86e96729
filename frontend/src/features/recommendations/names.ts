/** Names of objectives, in the order they are offered. */

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

/** Return names as the options of a select. */
export const options = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))
