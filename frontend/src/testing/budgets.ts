/** Latency budgets for tests. */

import type { Measured, Parts, Share } from '~/lib/latencyBudget'

/** Return a share of a delay, known to 5 µs. */
export const share = (cause: Share['cause'], us: number): Share => ({
  cause,
  delay_ns: us * 1e3,
  low_ns: (us - 5) * 1e3,
  high_ns: (us + 5) * 1e3,
})

/** Return what shares add up to. */
export function parts(...shares: Share[]): Parts {
  const us = shares.reduce((sum, { delay_ns }) => sum + delay_ns, 0) / 1e3
  return { ...share('base', us), shares }
}

/** Return the budget of a path with µs of queueing at p50 and at p99 over the shares of its lowest delay. */
export const budget = (base: Share[], p50: number, p99: number, more: Partial<Measured> = {}): Measured => ({
  ...{ selection: 's', title: 'a → b', paths: 1, clock_error_ns: null, separation: 'distance_unknown' },
  ...{ base: parts(...base), p50: parts(...base, share('queueing', p50)), p99: parts(...base, share('queueing', p99)) },
  ...{ base_verdict: 'within', provider: null, path_class: null, published: [] },
  ...more,
})
