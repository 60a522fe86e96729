/** What may slow a path, each in a sentence made of an answer of the API. */

import type { Fairness, Path, TokenBucket, Transport, VmHostWaits } from '~/api/types'
import { formatAge } from '~/lib/time'
import { formatDelay, formatRatio, formatSignedDelay, lossRatio } from '~/lib/units'
import { strings } from './strings'

export interface Cause {
  /** Something that slows the path; nothing; or too little is known. */
  state: 'found' | 'clear' | 'unknown'
  words: string
}

const found = (isFound: boolean, words: string): Cause => ({ state: isFound ? 'found' : 'clear', words })
const unknown = (words: string): Cause => ({ state: 'unknown', words })

/** Loss that slows a connection noticeably: TCP answers each lost packet with a wait. */
const LOSS = 0.005
/** Share of a step that a VM waits: more delays one packet in twenty. */
const WAITS = 0.05
const EMPTY_WITHIN_S = 60
/** The rule of the advisor for a path on which no other fired. */
const NO_RULE = 'R15'

export function changeCause(of: {
  value_ns: number | null
  deviation_ns: number | null
  is_unusual: boolean | null
}): Cause {
  if (of.is_unusual === null) return unknown(strings.noUsual)
  const now = formatDelay(of.value_ns)
  return of.is_unusual
    ? found((of.deviation_ns ?? 0) > 0, strings.changed(now, formatSignedDelay(of.deviation_ns)))
    : found(false, strings.asUsual(now))
}

export function lossCause({ outbound, inbound }: Path): Cause {
  if (!outbound || !inbound) return unknown(strings.noWindow)
  const losses = [lossRatio(outbound), lossRatio(inbound)]
  return found(
    losses.some((loss) => (loss ?? 0) >= LOSS),
    strings.lost(formatRatio(losses[0]), formatRatio(losses[1])),
  )
}

export function hostCause({ stalled_ratio, steal_ratio, throttled_ratio }: VmHostWaits): Cause {
  const worst = [stalled_ratio, steal_ratio, throttled_ratio].map((values) => {
    const known = values.filter((value) => value !== null)
    return known.length > 0 ? Math.max(...known) : null
  })
  if (worst.every((value) => value === null)) return unknown(strings.noWaits)
  const [stalled, steal, throttled] = worst.map(formatRatio) as [string, string, string]
  return found(
    worst.some((value) => (value ?? 0) >= WAITS),
    strings.waits(stalled, steal, throttled),
  )
}

export function bucketCause(bucket: TokenBucket | null): Cause {
  if (bucket === null) return unknown(strings.noBucket)
  const rate = strings.rate(bucket.rate_mbit.toPrecision(3))
  if (!bucket.forecast) return unknown(strings.noForecast(rate))
  const { empty_in_s: emptyS } = bucket.forecast
  if (emptyS === null) return found(false, strings.bucketFull(rate))
  if (emptyS === 0) return found(true, strings.bucketEmpty(rate))
  return found(emptyS < EMPTY_WITHIN_S, strings.bucketEmpties(formatAge(emptyS * 1_000), rate))
}

export function fairnessCause({ index, alert_below, below }: Fairness): Cause {
  if (index === null) return unknown(strings.noShares)
  return found(below === true, strings.shares(index.toFixed(3), alert_below.toFixed(2)))
}

interface Timeouts {
  vms_reporting: number
  items: readonly { vm_id: string; peer_vm_id: string | null; found: boolean; evidence: string }[]
}

export function timeoutCause({ vms_reporting, items }: Timeouts, source: string, target: string): Cause {
  if (vms_reporting === 0) return unknown(strings.noConnections)
  const between = items.find(
    ({ vm_id, peer_vm_id, found: isFound }) =>
      isFound && [`${vm_id} ${peer_vm_id}`, `${peer_vm_id} ${vm_id}`].includes(`${source} ${target}`),
  )
  return between ? found(true, `${between.evidence}.`) : found(false, strings.noTimeouts)
}

export function transportCause({ fired }: Transport): Cause {
  const first = fired.find(({ rule, overridden_by }) => overridden_by === null && rule !== NO_RULE)
  return first ? found(true, `${first.measurement}: ${first.choice}.`) : found(false, strings.noRule)
}
