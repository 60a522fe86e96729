/** The change of each zone pair from its usual delay; unusual changes are marked. */

import type { Deviations } from '~/api/overview'

export interface PairChange {
  source: number
  target: number
  /** One-way p50; null where it or the usual one is not known. */
  nowNs: number | null
  changeNs: number | null
  percent: number | null
  isPlanned: boolean
  isMeasured: boolean
  isUnusual: boolean
  /** Stored steps that the usual value is made of, and their number; null without a usual value. */
  basis: Basis | null
  steps: number
}

export type Basis = NonNullable<NonNullable<Deviations['baseline']>['basis'][number][number]>

/** Return the change of every zone pair, row by row. */
export function changesOf({ axis, values, states, baseline }: Deviations): PairChange[] {
  return axis.flatMap((_, source) =>
    axis.map((_, target) => {
      const changeNs = values[source]?.[target] ?? null
      const usualNs = baseline?.value_ns[source]?.[target] ?? null
      const bandNs = baseline?.dead_band_ns[source]?.[target] ?? null
      const state = states[source]?.[target]
      const isKnown = changeNs !== null && usualNs !== null
      return {
        source,
        target,
        nowNs: isKnown ? usualNs + changeNs : null,
        changeNs,
        percent: isKnown && usualNs !== 0 ? (100 * changeNs) / Math.abs(usualNs) : null,
        isPlanned: state !== 'not_planned',
        isMeasured: changeNs !== null || state === 'no_baseline',
        isUnusual: changeNs !== null && bandNs !== null && Math.abs(changeNs) > bandNs,
        basis: isKnown ? (baseline?.basis[source]?.[target] ?? null) : null,
        steps: baseline?.steps[source]?.[target] ?? 0,
      }
    }),
  )
}
