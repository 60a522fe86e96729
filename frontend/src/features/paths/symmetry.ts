/** Delays above the fastest packet of their direction: a clock offset shifts both, and cancels. */

import type { DirectionItem } from './Directions'

export const COMPARED = ['p50', 'p90', 'p99', 'p999'] as const
export type Compared = (typeof COMPARED)[number]

/** Return how far a quantile of a direction is above its fastest packet, ns; null where either is unknown. */
export function aboveFastest({ quantiles_ns, min_ns }: Pick<DirectionItem, 'quantiles_ns' | 'min_ns'>, name: Compared) {
  const value = quantiles_ns[name]
  // Quantiles are rounded to bins, the minimum is not.
  return value == null || min_ns === null ? null : Math.max(0, value - min_ns)
}

export interface SymmetryRow {
  name: Compared
  outbound: number | null
  inbound: number | null
  /** Outbound minus inbound. */
  difference: number | null
}

/** Return both directions side by side. */
export function symmetryRows(
  outbound: Parameters<typeof aboveFastest>[0],
  inbound: Parameters<typeof aboveFastest>[0],
): SymmetryRow[] {
  return COMPARED.map((name) => {
    const [out, into] = [aboveFastest(outbound, name), aboveFastest(inbound, name)]
    return { name, outbound: out, inbound: into, difference: out === null || into === null ? null : out - into }
  })
}
