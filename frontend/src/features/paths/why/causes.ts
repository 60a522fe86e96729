/** What may slow a path, each in a sentence made of an answer of the API. */

import type { Finding } from '~/api/overview'
import type { Path, Transport, VmHostWaits } from '~/api/types'
import { sentenceCase } from '~/lib/text'
import { formatDelay, formatRatio, formatSignedDelay, lossRatio } from '~/lib/units'
import { strings } from './strings'

export interface Cause {
  /** Something that slows the path; nothing; or too little is known. */
  state: 'found' | 'clear' | 'unknown'
  words: string
}

/** Loss that slows a connection noticeably: TCP answers each lost packet with a wait. */
const LOSS = 0.005
/** Share of a step that a VM waits: more delays one packet in twenty. */
const WAITS = 0.05
/** The rule of the advisor for a path on which no other fired. */
const NO_RULE = 'R15'

const judged = (isFound: boolean, words: string): Cause => ({ state: isFound ? 'found' : 'clear', words })
const unknown = (words: string): Cause => ({ state: 'unknown', words })

interface Change {
  value_ns: number | null
  deviation_ns: number | null
  is_unusual: boolean | null
}

export function changeCause({ value_ns, deviation_ns, is_unusual }: Change): Cause {
  if (is_unusual === null) return unknown(strings.noUsual)
  const now = formatDelay(value_ns)
  if (!is_unusual) return judged(false, strings.asUsual(now))
  return judged((deviation_ns ?? 0) > 0, strings.changed(now, formatSignedDelay(deviation_ns)))
}

export function lossCause({ outbound, inbound }: Path): Cause {
  if (!outbound || !inbound) return unknown(strings.noNewestWindow)
  const [there, back] = [lossRatio(outbound), lossRatio(inbound)]
  return judged(Math.max(there ?? 0, back ?? 0) >= LOSS, strings.lost(formatRatio(there), formatRatio(back)))
}

export function hostCause({ stalled_ratio, steal_ratio, throttled_ratio }: VmHostWaits): Cause {
  const most = (values: (number | null)[]) => Math.max(-1, ...values.map((value) => value ?? -1))
  const [stalled, steal, throttled] = [most(stalled_ratio), most(steal_ratio), most(throttled_ratio)] as const
  const worst = Math.max(stalled, steal, throttled)
  if (worst < 0) return unknown(strings.noWaits)
  const words = (ratio: number) => (ratio < 0 ? strings.notReported : formatRatio(ratio))
  return judged(worst >= WAITS, strings.waits(words(stalled), words(steal), words(throttled)))
}

export function transportCause({ fired }: Transport): Cause {
  const first = fired.find(({ rule, overridden_by }) => overridden_by === null && rule !== NO_RULE)
  return first
    ? judged(true, strings.chosen(sentenceCase(first.measurement), first.choice))
    : judged(false, strings.noRule)
}

/** Return the findings about the mesh as a whole, or about one of the two VMs; those of transport are asked for the path. */
export const findingsOf = (findings: readonly Finding[], meshId: string, names: readonly string[]) =>
  findings.filter(
    ({ advisor, mesh, about, of }) =>
      mesh.id === meshId &&
      advisor !== 'transport' &&
      (of !== null || about.split(/ → |: /).some((name) => names.includes(name))),
  )
