/** A limit for an alert on a path, from its usual delay. */

import type { Deviation } from '~/api/types'

/**
 * Return a limit (ns) of the one-way p50 well outside of what is usual: two dead bands above the usual value, rounded
 * up to two digits. Undefined without a usual value.
 */
export function suggestedLimit(
  deviation: Pick<Deviation, 'baseline_ns' | 'dead_band_ns'> | undefined,
): number | undefined {
  if (deviation?.baseline_ns == null || deviation.dead_band_ns == null) return undefined
  const limit = deviation.baseline_ns + 2 * deviation.dead_band_ns
  if (limit <= 0) return undefined
  const step = 10 ** (Math.floor(Math.log10(limit)) - 1)
  return Math.ceil(limit / step) * step
}
