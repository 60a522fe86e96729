/** The question of the shaping page as the address holds it, and bursts from a file. */

import * as v from 'valibot'
import type { ShapingQuestion, TreatmentQuestion } from '~/api/types'
import { flag, identifier, number, searchParser } from '~/lib/searchParams'

export const MECHANISMS = ['policer', 'shaper'] as const
export const COMMUNICATIONS = ['request_reply', 'all_to_all', 'collectives'] as const

export interface ShapingSearch {
  mesh?: string
  rate?: number
  burst?: number
  mechanism?: (typeof MECHANISMS)[number]
  use?: number
  transfer?: number
  communication?: (typeof COMMUNICATIONS)[number]
  packet?: number
  writes?: number
  priorities?: true
  shared?: true
  unacknowledged?: true
  ranges?: true
  strict?: true
}

type NumberField = 'rate' | 'burst' | 'use' | 'transfer' | 'packet' | 'writes'

export const FIRST: Record<NumberField, number> = {
  rate: 1_000,
  burst: 100,
  use: 2_000,
  transfer: 1_000,
  packet: 1_400,
  writes: 0,
}

export const shapingSearch = searchParser<ShapingSearch>(
  {
    mesh: identifier,
    rate: number(0),
    burst: number(0),
    mechanism: v.picklist(MECHANISMS),
    use: number(0),
    transfer: number(0),
    communication: v.picklist(COMMUNICATIONS),
    packet: v.pipe(number(1), v.maxValue(65_535)),
    writes: v.pipe(number(0), v.maxValue(100)),
    priorities: flag,
    shared: flag,
    unacknowledged: flag,
    ranges: flag,
    strict: flag,
  },
  { mechanism: 'policer', communication: 'request_reply', ...FIRST },
)

export type Trains = NonNullable<ShapingQuestion['trains']>

/** Bursts of a file, and the host name of the VM that sent them. */
export interface Bursts {
  trains: Trains
  sender: string | null
}

const times = v.array(v.nullable(v.number()))
const file = v.object({
  trains: v.pipe(
    v.array(v.object({ packet_bytes: v.number(), sent_ns: v.array(v.number()), received_ns: times })),
    v.minLength(1),
  ),
  sender: v.optional(v.nullable(v.string()), null),
})

/** A burst of packets of two sizes, and one of packets of two DSCP classes. */
export interface MixedBursts {
  bursts: [TreatmentQuestion, TreatmentQuestion]
}

const mixed = v.object({
  packet_bytes: v.array(v.number()),
  dscp: v.array(v.number()),
  received_dscp: times,
  sent_ns: v.array(v.number()),
  received_ns: times,
})
const mixedFile = v.object({ bursts: v.tuple([mixed, mixed]) })

/** Return the bursts of a file of `sinemora advise shaping --output`; null if it is none. */
export const burstsOf = (text: string): Bursts | null => contentOf(file, text)

/** Return the bursts of a file of `sinemora advise packet-treatment --output`; null if it is none. */
export const mixedBurstsOf = (text: string): MixedBursts | null => contentOf(mixedFile, text)

function contentOf<T>(schema: v.GenericSchema<unknown, T>, text: string): T | null {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(text))
    return success ? (output as T) : null
  } catch {
    return null
  }
}

/** Return the request for measured bursts, or for the known bucket of the question. */
export function requestOf(search: ShapingSearch, trains: Trains | null): ShapingQuestion {
  const asked = { ...FIRST, ...search }
  return {
    trains: trains ?? [],
    rate_mbit: trains ? null : asked.rate,
    burst_kb: trains ? null : asked.burst,
    mechanism: search.mechanism ?? 'policer',
    upper_rate_mbit: null,
    upper_burst_kb: null,
    use_mbit: asked.use,
    tokens_kb: null,
    line_mbit: 10_000,
    transfer_mb: asked.transfer > 0 ? asked.transfer : null,
    application: {
      communication: search.communication ?? 'request_reply',
      packet_bytes: asked.packet,
      write_share: asked.writes / 100,
      acknowledged_writes: !search.unacknowledged,
      range_inserts: search.ranges ?? false,
      mixed_priorities: search.priorities ?? false,
      shared: search.shared ?? null,
      strict_network: search.strict ?? false,
    },
  }
}
