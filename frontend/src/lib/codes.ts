/** Values of matrix codes by metric: the inverse of the backend's encoding. */

import type { MatrixMetric } from './dimensions'
import { BINS, binOf, delayOf } from './llq16'

/** The meaning of codes: a metric, or its difference between two ranges. */
export type Coding = MatrixMetric | 'difference' | 'loss_difference' | 'percent'

export const ASYMMETRY_ZERO = 32_768

/** Return true when codes are bins of delay on both sides of zero. */
const isSignedDelay = (coding: Coding) => coding === 'asymmetry' || coding === 'deviation' || coding === 'difference'

/** Return true when codes are shares from 0 to 1. */
const isShare = (coding: Coding) => coding === 'loss' || coding === 'predicted_loss'

/** Return true when codes lie on both sides of zero. */
export const isSigned = (coding: Coding) =>
  isSignedDelay(coding) || coding === 'loss_difference' || coding === 'percent'

/** The smallest code of a coding that has a value: there is no bin beyond the last on either side. */
export const leastCode = (coding: Coding) =>
  isSignedDelay(coding) ? ASYMMETRY_ZERO - BINS + 1 : coding === 'loss_difference' ? ASYMMETRY_ZERO - 10_000 : 1

/** Return one more than the largest code of a metric: the length of a table indexed by code. */
export function codeCount(metric: Coding): number {
  if (isSignedDelay(metric)) return ASYMMETRY_ZERO + BINS
  if (metric === 'loss_difference') return ASYMMETRY_ZERO + 10_001
  if (metric === 'percent') return 65_536
  return isShare(metric) ? 10_002 : BINS + 1
}

/** Return the quantity a code stands for, in ns or as a ratio; code 0 is no value at all. */
export function valueOfCode(metric: Coding, code: number): number | null {
  if (code === 0) return null
  if (isShare(metric)) return (code - 1) / 10_000
  if (metric === 'loss_difference') return (code - ASYMMETRY_ZERO) / 10_000
  if (metric === 'percent') return (code - ASYMMETRY_ZERO) / 10
  if (!isSigned(metric)) return delayOf(code - 1)
  return code < ASYMMETRY_ZERO ? -delayOf(ASYMMETRY_ZERO - code) : delayOf(code - ASYMMETRY_ZERO)
}

/** Return the code of a quantity; used where a value must be found on a scale. */
export function codeOfValue(metric: Coding, value: number): number {
  if (isShare(metric)) return 1 + Math.round(value * 10_000)
  if (metric === 'loss_difference') return ASYMMETRY_ZERO + Math.round(value * 10_000)
  if (metric === 'percent') return ASYMMETRY_ZERO + Math.round(value * 10)
  if (!isSigned(metric)) return binOf(value) + 1
  return value < 0 ? ASYMMETRY_ZERO - binOf(-value) : ASYMMETRY_ZERO + binOf(value)
}
