/** The question of the tail lab as the address holds it. */

import * as v from 'valibot'
import type { PacketPolicy, TailStudyQuestion } from '~/api/types'
import { identifier, integer, number, searchParser } from '~/lib/searchParams'

export const WORKLOADS = ['w1', 'w2', 'w3', 'w4', 'w5', 'own'] as const
export const FIGURES = ['tail_mean', 'p99', 'mean', 'small_p99'] as const
export const SPREADS = ['bytes', 'packets'] as const
export const TOPOLOGIES = ['single_link', 'leaf_spine'] as const
export const BASELINES_OF = {
  single_link: ['fcfs', 'ps', 'las', 'srpt'],
  leaf_spine: ['tcp', 'dctcp', 'pfabric_las', 'pfabric', 'homa'],
} as const
const BASELINES = [...BASELINES_OF.single_link, ...BASELINES_OF.leaf_spine] as const
export const POLICIES_OF = {
  single_link: ['fcfs', 'ps', 'las', 'srpt', 'pbs', 'd_tail_blind', 'd_tail_aware'],
  leaf_spine: [
    'tcp',
    'dctcp',
    'dctcp_d_tail_blind',
    'dctcp_d_tail_aware',
    'pfabric_las',
    'pfabric',
    'pfabric_d_tail_blind',
    'pfabric_d_tail_aware',
    'homa',
    'homa_d_tail_aware',
  ],
} as const
const POLICIES: readonly PacketPolicy[] = [...POLICIES_OF.single_link, ...POLICIES_OF.leaf_spine]
/** The policies that are compared unless others are chosen. */
const USUAL_OF = {
  single_link: ['fcfs', 'ps', 'las', 'srpt', 'd_tail_blind', 'd_tail_aware'],
  leaf_spine: ['dctcp', 'dctcp_d_tail_aware', 'pfabric', 'pfabric_d_tail_aware', 'homa', 'homa_d_tail_aware'],
} as const
/** Stands for infinity, where bytes alone decide. */
export const ALPHA_MAX = 1e15

export type Figure = (typeof FIGURES)[number]
export type Topology = (typeof TOPOLOGIES)[number]

export interface TailSearch {
  study?: string
  /** Baseline of the gains on screen. */
  gains?: (typeof BASELINES)[number]
  topology?: Topology
  workload?: (typeof WORKLOADS)[number]
  load?: number
  link?: number
  packet?: number
  flows?: number
  seed?: number
  policies?: string
  objective?: Figure
  against?: (typeof BASELINES)[number]
  limit?: number
  alpha?: number
  evaluations?: number
  classes?: number
  spread?: (typeof SPREADS)[number]
}

export const FIRST = {
  topology: 'single_link',
  workload: 'w5',
  load: 80,
  link: 10_000,
  packet: 1_460,
  seed: 1,
  objective: 'tail_mean',
  limit: 3,
  evaluations: 25,
  spread: 'bytes',
} as const satisfies Partial<TailSearch>

const isPolicy = (name: string): name is PacketPolicy => (POLICIES as readonly string[]).includes(name)

/** Return the policies of the address that its network has, in the order of the product; the usual ones without any. */
export function policiesOf(search: TailSearch): PacketPolicy[] {
  const topology = search.topology ?? FIRST.topology
  const named = search.policies?.split(',') ?? []
  const chosen = POLICIES_OF[topology].filter((policy) => named.includes(policy))
  return chosen.length > 0 ? chosen : [...USUAL_OF[topology]]
}

/** Return the baseline of the address if its network has it. */
export function againstOf({ topology = FIRST.topology, against }: TailSearch): TailSearch['against'] {
  return (BASELINES_OF[topology] as readonly string[]).includes(against ?? '') ? against : undefined
}

export const tailSearch = searchParser<TailSearch>(
  {
    study: identifier,
    gains: v.picklist(BASELINES),
    topology: v.picklist(TOPOLOGIES),
    workload: v.picklist(WORKLOADS),
    load: v.pipe(number(5), v.maxValue(95)),
    link: v.pipe(number(1), v.maxValue(400_000)),
    packet: v.pipe(integer(64), v.maxValue(65_535)),
    flows: v.pipe(integer(1_000), v.maxValue(1_000_000)),
    seed: integer(0),
    policies: v.pipe(
      v.string(),
      v.check((text) => text.split(',').every(isPolicy)),
    ),
    objective: v.picklist(FIGURES),
    against: v.picklist(BASELINES),
    limit: v.pipe(number(-1), v.maxValue(1_000)),
    alpha: v.pipe(number(0), v.maxValue(ALPHA_MAX)),
    evaluations: v.pipe(integer(5), v.maxValue(96)),
    classes: v.pipe(integer(2), v.maxValue(8)),
    spread: v.picklist(SPREADS),
  },
  FIRST,
)

/** Return the request of a question; `sizes` are the imported flow sizes, read with the workload `own` alone. */
export function requestOf(search: TailSearch, sizes: string): TailStudyQuestion {
  const asked = { ...FIRST, ...search }
  const isLink = asked.topology === 'single_link'
  const name = asked.workload === 'own' ? 'Own flow sizes' : asked.workload.toUpperCase()
  return {
    name: isLink ? name : `${name}, leaf-spine`,
    topology: asked.topology,
    workload: asked.workload,
    sizes_csv: asked.workload === 'own' ? sizes : null,
    load: asked.load / 100,
    // The leaf-spine network is the source's.
    link_mbit: isLink ? asked.link : FIRST.link,
    packet_bytes: isLink ? asked.packet : FIRST.packet,
    flows: search.flows ?? null,
    seed: asked.seed,
    policies: policiesOf(search),
    objective: asked.objective,
    against: againstOf(search) ?? null,
    mean_loss_max: asked.limit < 0 ? null : asked.limit,
    alpha: search.alpha ?? null,
    evaluations: asked.evaluations,
    classes: isLink ? (search.classes ?? null) : null,
    spread: asked.spread,
  }
}
