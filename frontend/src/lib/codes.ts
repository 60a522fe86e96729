/** What a matrix code stands for, per metric: the inverse of the backend's encoding. */

import { BINS, binOf, delayOf } from './llq16'
import type { Metric } from './search'

export const ASYMMETRY_ZERO = 32_768

/** One more than the largest code of a metric: the length of a table indexed by code. */
export function codeCount(metric: Metric): number {
  if (metric === 'asymmetry') return ASYMMETRY_ZERO + BINS
  return metric === 'loss' ? 10_002 : BINS + 1
}

/** The quantity a code stands for, in ns or as a ratio; code 0 is no value at all. */
export function valueOfCode(metric: Metric, code: number): number | null {
  if (code === 0) return null
  if (metric === 'loss') return (code - 1) / 10_000
  if (metric !== 'asymmetry') return delayOf(code - 1)
  return code < ASYMMETRY_ZERO ? -delayOf(ASYMMETRY_ZERO - code) : delayOf(code - ASYMMETRY_ZERO)
}

/** The code of a quantity; used where a value must be found on a scale. */
export function codeOfValue(metric: Metric, value: number): number {
  if (metric === 'loss') return 1 + Math.round(value * 10_000)
  if (metric !== 'asymmetry') return binOf(value) + 1
  return value < 0 ? ASYMMETRY_ZERO - binOf(-value) : ASYMMETRY_ZERO + binOf(value)
}
