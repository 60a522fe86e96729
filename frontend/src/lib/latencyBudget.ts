/** Latency budgets: shares of a delay, as sentences and as segments of bars. */

import type { PathClass } from './publishedDelays'
import { formatDelay } from './units'

/** A delay with its bounds, ns. */
export interface BoundedDelay {
  delay_ns: number
  low_ns: number
  high_ns: number
}

export const CAUSES = ['propagation', 'processing', 'base', 'queueing'] as const
export type Cause = (typeof CAUSES)[number]

export interface Share extends BoundedDelay {
  cause: Cause
}

export interface Parts extends BoundedDelay {
  shares: readonly Share[]
}

export interface LatencyBudget {
  selection: string
  title: string
  /** Paths with delays; of several, each figure is the median over them. */
  paths: number
  clock_error_ns: number | null
  separation: 'separated' | 'distance_unknown' | 'distance_not_resolved' | 'distance_too_long' | null
  base: Parts | null
  p50: Parts | null
  p99: Parts | null
  base_verdict: 'below' | 'within' | 'above' | null
  provider: string | null
  path_class: PathClass | null
  published: readonly { name: string; p50_ns: number; p99_ns: number }[]
  /** Waits in the VMs at the ends, which the delays do not hold. */
  vm_waits?: Record<`${'sending' | 'receiving'}_${'p50' | 'p99'}_ns`, number | null> | null
}

/** A published contribution of a component to a delay, ns. */
export interface ReferencePart {
  component: 'nic' | 'kernel' | 'hypervisor' | 'switches'
  low_ns: number
  high_ns: number
  source: string
}

/** A budget whose delays are known. */
export type Measured = LatencyBudget & { base: Parts; p50: Parts; p99: Parts }

/** Return whether there are delays in the range. */
export const isMeasured = (budget: LatencyBudget): budget is Measured =>
  budget.base !== null && budget.p50 !== null && budget.p99 !== null

/** Return the sum of published contributions, from the least to the most, ns. */
export const sumOf = (reference: readonly ReferencePart[]): readonly [number, number] => [
  reference.reduce((sum, { low_ns }) => sum + low_ns, 0),
  reference.reduce((sum, { high_ns }) => sum + high_ns, 0),
]

const queueing = ({ shares }: Parts) => formatDelay(shares.find(({ cause }) => cause === 'queueing')?.delay_ns)

/** Return the budget in plain sentences. */
export function budgetSentences({ base, p50, p99, paths, clock_error_ns, vm_waits: waits }: Measured): string[] {
  const [total, lowest] = [formatDelay(p50.delay_ns), formatDelay(base.delay_ns)]
  const [least, rest] = base.shares
  const ofBase =
    least?.cause === 'propagation' && rest
      ? `at least ${formatDelay(least.delay_ns)} propagation in fibre, and up to ${formatDelay(rest.delay_ns)} hosts, hypervisors and switches`
      : 'propagation, hosts, hypervisors and switches, which cannot be separated without a distance'
  const where = paths > 1 ? ` Each figure is the median over ${paths} paths.` : ''
  const first =
    base.delay_ns < 0
      ? `The lowest delay in this range is below zero (${lowest}): the clock error is larger than the delay. Round trips have no clock error.`
      : `Of the ${total} at the median, ${lowest} is the lowest delay in this range (${ofBase}), and ${queueing(p50)} is queueing and scheduling.`
  const sentences = [
    `${first}${where}`,
    `At p99, ${formatDelay(p99.delay_ns)}, ${queueing(p99)} is queueing and scheduling.`,
  ]
  if (waits?.sending_p50_ns != null || waits?.receiving_p50_ns != null) {
    const of = (p50_ns: number | null, p99_ns: number | null) => `${formatDelay(p50_ns)} (p99 ${formatDelay(p99_ns)})`
    sentences.push(
      `Waits in the VMs come on top of it: ${of(waits.sending_p50_ns, waits.sending_p99_ns)} from the program to the driver, ${of(waits.receiving_p50_ns, waits.receiving_p99_ns)} from the kernel to the program. What is queueing and scheduling above is of the network and of hypervisors.`,
    )
  }
  if (clock_error_ns !== null && base.delay_ns >= 0) {
    sentences.push(
      `The clock error, ± ${formatDelay(clock_error_ns)}, is part of every bound. An error that stays the same in this range moves the lowest delay and leaves queueing as it is.`,
    )
  }
  return sentences
}

/** A part of a bar: its start and its length as shares of the whole axis. */
export interface Segment {
  cause: Cause
  start: number
  length: number
}

/** Return the segments of a bar on an axis from zero to `most` (ns); a share below zero has no length. */
export function segmentsOf({ shares }: Parts, most: number): Segment[] {
  let end = 0
  return shares.map(({ cause, delay_ns }) => {
    const start = end
    end += Math.max(delay_ns, 0)
    return { cause, start: start / most, length: Math.max(delay_ns, 0) / most }
  })
}
