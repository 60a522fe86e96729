/** The question of the transport advisor as the address holds it. */

import * as v from 'valibot'
import type { TransportQuestion } from '~/api/types'
import { flag, identifier, number, searchParser } from '~/lib/searchParams'

export const PATTERNS = ['one_to_one', 'one_to_many', 'many_to_one', 'many_to_many'] as const
export const ECN = ['marked', 'not_marked', 'bleached'] as const
/** Constraints that a tenant may have; each is a switch. */
export const CONSTRAINTS = [
  'encrypt',
  'deadlines',
  'programmable_network',
  'prioritised_streams',
  'prefers_low_latency',
  'short_flows_fair',
] as const
export type Constraint = (typeof CONSTRAINTS)[number]

export type TransportSearch = { [K in Constraint]?: true } & {
  mesh?: string
  source?: string
  target?: string
  pattern?: (typeof PATTERNS)[number]
  ecn?: (typeof ECN)[number]
  fan_in?: number
  volume_ratio?: number
  interfaces?: number
  transfer_percent?: number
  /** Run of the bulk sender that is shown. */
  run?: string
}

const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100))

export const transportSearch = searchParser<TransportSearch>(
  {
    mesh: identifier,
    run: identifier,
    source: name,
    target: name,
    pattern: v.picklist(PATTERNS),
    ecn: v.picklist(ECN),
    fan_in: number(1),
    volume_ratio: number(1),
    interfaces: number(1),
    transfer_percent: v.pipe(number(0), v.maxValue(100)),
    encrypt: flag,
    deadlines: flag,
    programmable_network: flag,
    prioritised_streams: flag,
    prefers_low_latency: flag,
    short_flows_fair: flag,
  },
  { pattern: 'one_to_one', transfer_percent: 50, fan_in: 1, volume_ratio: 1, interfaces: 1 },
)

/** Return the request; without two different VMs, only what was entered counts. */
export function requestOf(search: TransportSearch): TransportQuestion {
  const { mesh, source, target } = search
  const path = mesh && source && target && source !== target ? { mesh, source, target } : {}
  const on = (constraint: Constraint) => search[constraint] ?? false
  return {
    ...path,
    minutes: 60,
    pattern: search.pattern ?? 'one_to_one',
    ecn: search.ecn ?? null,
    fan_in: Math.round(search.fan_in ?? 1),
    volume_ratio: search.volume_ratio ?? 1,
    interfaces: Math.round(search.interfaces ?? 1),
    transfer_share: (search.transfer_percent ?? 50) / 100,
    encrypt: on('encrypt'),
    deadlines: on('deadlines'),
    programmable_network: on('programmable_network'),
    prioritised_streams: on('prioritised_streams'),
    prefers_low_latency: on('prefers_low_latency'),
    short_flows_fair: on('short_flows_fair'),
  }
}
