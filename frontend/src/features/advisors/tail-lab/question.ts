/** The question of the tail lab as the address holds it. */

import * as v from 'valibot'
import type { PacketPolicy, TailStudyQuestion } from '~/api/types'
import { identifier, integer, number, searchParser } from '~/lib/searchParams'

export const WORKLOADS = ['w1', 'w2', 'w3', 'w4', 'w5', 'own'] as const
export const FIGURES = ['tail_mean', 'p99', 'mean', 'small_p99'] as const
export const SPREADS = ['bytes', 'packets'] as const
export const BASELINES = ['fcfs', 'ps', 'las', 'srpt'] as const
export const POLICIES: readonly PacketPolicy[] = [...BASELINES, 'pbs', 'd_tail_blind', 'd_tail_aware']
/** Stands for infinity, where bytes alone decide. */
export const ALPHA_MAX = 1e15

export type Figure = (typeof FIGURES)[number]

export interface TailSearch {
  study?: string
  /** Baseline of the gains on screen. */
  gains?: (typeof BASELINES)[number]
  /** Network of an address from before: the lab had one. */
  topology?: 'leaf_spine'
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

/** Return the policies of the address in the order of the product; without any, all but PBS. */
export const policiesOf = ({ policies }: TailSearch): PacketPolicy[] =>
  POLICIES.filter((policy) => (policies === undefined ? policy !== 'pbs' : policies.split(',').includes(policy)))

export const tailSearch = searchParser<TailSearch>(
  {
    study: identifier,
    gains: v.picklist(BASELINES),
    topology: v.picklist(['leaf_spine']),
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
  return {
    name: asked.workload === 'own' ? 'Own flow sizes' : asked.workload.toUpperCase(),
    workload: asked.workload,
    sizes_csv: asked.workload === 'own' ? sizes : null,
    load: asked.load / 100,
    link_mbit: asked.link,
    packet_bytes: asked.packet,
    flows: search.flows ?? null,
    seed: asked.seed,
    policies: policiesOf(search),
    objective: asked.objective,
    against: search.against ?? null,
    mean_loss_max: asked.limit < 0 ? null : asked.limit,
    alpha: search.alpha ?? null,
    evaluations: asked.evaluations,
    classes: search.classes ?? null,
    spread: asked.spread,
  }
}
