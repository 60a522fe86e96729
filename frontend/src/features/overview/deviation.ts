/** How much each zone pair differs from the hour before, and what of that is unusual. */

import type { Comparison } from '~/api/overview'

/** A smaller change is usual, whatever its share. */
export const LEAST_NS = 10_000
/** A smaller share is usual, whatever its size. */
export const LEAST_SHARE = 0.1

export interface PairChange {
  source: number
  target: number
  nowNs: number | null
  changeNs: number | null
  percent: number | null
  isPlanned: boolean
  isUnusual: boolean
}

/** Return the size up to which a change is usual. */
export function deadBandNs(baseNs: number, clockErrorNs: number): number {
  return Math.max(clockErrorNs, LEAST_NS, LEAST_SHARE * baseNs)
}

/** Return the change of every zone pair, row by row. */
export function changesOf(comparison: Comparison): PairChange[] {
  return comparison.axis.flatMap((_, source) =>
    comparison.axis.map((_, target) => {
      const nowNs = comparison.values[source]?.[target] ?? null
      const baseNs = comparison.base_values[source]?.[target] ?? null
      const changeNs = comparison.difference[source]?.[target] ?? null
      const clockErrorNs = comparison.clock_error_ns[source]?.[target] ?? 0
      return {
        source,
        target,
        nowNs,
        changeNs,
        percent: comparison.percent[source]?.[target] ?? null,
        isPlanned: comparison.states[source]?.[target] !== 'not_planned',
        isUnusual: changeNs !== null && baseNs !== null && Math.abs(changeNs) > deadBandNs(baseNs, clockErrorNs),
      }
    }),
  )
}

function median(values: number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? null : (low + high) / 2
}

/** Return the medians over all zone pairs that have a value now and before. */
export function typical(changes: PairChange[]): { nowNs: number | null; percent: number | null; pairs: number } {
  const known = changes.filter(({ nowNs, percent }) => nowNs !== null && percent !== null)
  return {
    nowNs: median(known.map(({ nowNs }) => nowNs as number)),
    percent: median(known.map(({ percent }) => percent as number)),
    pairs: known.length,
  }
}

/** Return the position of a change on a diverging scale, 0.5 in the middle; twice or half the base is the end. */
export function positionOf({ changeNs, percent }: PairChange): number {
  if (changeNs === null) return 0.5
  // A quarter at least: an unusual cell must differ from a grey one.
  const reach = 0.25 + 0.75 * Math.min(1, Math.abs(percent ?? 100) / 100)
  return 0.5 + 0.5 * Math.sign(changeNs) * reach
}
