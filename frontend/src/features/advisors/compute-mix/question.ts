/** The question of the compute mix as the address holds it, and the request it becomes. */

import * as v from 'valibot'
import type { ComputeMixQuestion, PricedService } from '~/api/types'
import { identifier, integer, number, searchParser } from '~/lib/searchParams'

export const STATISTICS = ['mean', '50', '90', '95', '99', '99.9'] as const
export type Statistic = (typeof STATISTICS)[number]

const name = v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(100))
const vmType = v.object({ name, price: number(0), serviceMs: number(0) })
const offer = v.object({
  serviceMs: number(0),
  memoryGb: number(0),
  perGbSecond: number(0),
  perMillion: number(0),
  coldPercent: number(0),
  coldMs: number(0),
})
const end = v.object({ source: name, target: name })

export type VmRow = v.InferOutput<typeof vmType>
export type Offer = v.InferOutput<typeof offer>
export type Ends = v.InferOutput<typeof end>

export interface MixSearch {
  /** Of all prices and costs, ISO 4217. */
  currency?: string
  load?: number
  target?: number
  statistic?: Statistic
  variation?: number
  vms?: VmRow[]
  /** Null: no serverless offer. */
  offer?: Offer | null
  mesh?: string
  paths?: Ends[]
  hourly?: number[]
  term?: number
}

/** Codes of currencies, ISO 4217. */
export const CURRENCY = /^[A-Z]{3}$/

export const mixSearch = searchParser<MixSearch>({
  currency: v.pipe(v.string(), v.regex(CURRENCY)),
  load: number(0),
  target: number(0),
  statistic: v.picklist(STATISTICS),
  variation: number(0),
  vms: v.pipe(v.array(vmType), v.minLength(1), v.maxLength(50)),
  offer: v.nullable(offer),
  mesh: identifier,
  paths: v.pipe(v.array(end), v.maxLength(10)),
  hourly: v.pipe(v.array(number(0)), v.maxLength(168)),
  term: integer(1),
})

/** The question with which the page opens: the prices of the shipped sample. */
export const FIRST: Required<MixSearch> = {
  currency: 'USD',
  load: 50,
  target: 500,
  statistic: '95',
  variation: 1,
  vms: [
    { name: 't3.medium', price: 0.0416, serviceMs: 60 },
    { name: 'c5.large', price: 0.085, serviceMs: 40 },
  ],
  offer: { serviceMs: 120, memoryGb: 1, perGbSecond: 0.0000166667, perMillion: 0.2, coldPercent: 0, coldMs: 0 },
  mesh: '',
  paths: [],
  hourly: [],
  term: 1,
}

/** Return the request of a complete question. */
export function requestOf(asked: Required<MixSearch>): ComputeMixQuestion {
  return {
    ...serviceOf(asked),
    mesh: asked.paths.length > 0 ? asked.mesh : null,
    paths: asked.paths,
    minutes: 60,
    hourly_load_per_s: asked.hourly,
    term_h: asked.term,
  }
}

/** Return load, target and offers of a question. */
export function serviceOf(asked: Required<MixSearch>): PricedService {
  const { offer: served } = asked
  return {
    load_per_s: asked.load,
    target: {
      response_ms: asked.target,
      percentile: asked.statistic === 'mean' ? null : Number(asked.statistic),
    },
    vm_types: asked.vms.map((vm) => ({
      name: vm.name,
      price_per_hour: vm.price,
      service_ms: vm.serviceMs,
      variation: asked.variation,
    })),
    serverless: served && {
      service_ms: served.serviceMs,
      variation: asked.variation,
      memory_gb: served.memoryGb,
      price_per_gb_second: served.perGbSecond,
      price_per_million_requests: served.perMillion,
      cold_share: served.coldPercent / 100,
      cold_ms: served.coldMs,
      cold_billed: true,
    },
  }
}

/** Return the numbers of a text that separates them by spaces, commas or lines; null if one is none. */
export function numbersOf(text: string): number[] | null {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '')
  const values = parts.map(Number)
  return values.every((value) => Number.isFinite(value) && value >= 0) ? values : null
}
