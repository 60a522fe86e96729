/** From values to positions on a ramp, and back to ticks. */

import { ticks as linearTicks } from 'd3-array'
import { type Grid, LOOK } from './grid'

export type ScaleKind = 'log' | 'linear' | 'symmetric'

export interface Domain {
  low: number
  high: number
}

/** Steps a scale may end on, per decade: coarse enough that it does not twitch with every window. */
const STEPS = [1, 1.5, 2, 3, 5, 7, 10]

/** Return the next step below (or above) a positive value: 84 213 → 70 000 (or 100 000). */
export function step(value: number, direction: 'down' | 'up'): number {
  const decade = 10 ** Math.floor(Math.log10(value))
  const digits = Number((value / decade).toPrecision(12))
  const step = direction === 'down' ? STEPS.findLast((s) => s <= digits) : STEPS.find((s) => s >= digits)
  return Number(((step ?? 1) * decade).toPrecision(12))
}

/**
 * The values below which 1 % and 99 % of the cells with a fresh value lie; without a fresh value, of those with a stale
 * one, which are shown too. `null` when there is neither.
 */
export function percentiles({ codes, looks }: Grid, value: (code: number) => number | null): Domain | null {
  // Counting by code is one pass over a million cells; sorting them would be slow.
  const [fresh, stale] = [new Uint32Array(65_536), new Uint32Array(65_536)]
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number
    if (looks[i] === LOOK.plain) fresh[code] = (fresh[code] as number) + 1
    else if (looks[i] === LOOK.veiled) stale[code] = (stale[code] as number) + 1
  }
  return ends(fresh, value) ?? ends(stale, value)
}

/** Return the percentiles of counts by code; code 0 is no value. */
function ends(counts: Uint32Array, value: (code: number) => number | null): Domain | null {
  counts[0] = 0
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const at = (q: number) => {
    let left = Math.max(1, Math.ceil(q * total))
    const code = counts.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return value(code) ?? 0
  }
  return { low: at(0.01), high: at(0.99) }
}

/** Widen the shown range to round ends. `least` is the smallest useful extent of a linear scale. */
export function roundDomain(kind: ScaleKind, shown: Domain, least: number): Domain {
  if (kind === 'symmetric') {
    const reach = step(Math.max(Math.abs(shown.low), Math.abs(shown.high), least), 'up')
    return { low: -reach, high: reach }
  }
  if (kind === 'linear') return { low: 0, high: step(Math.max(shown.high, least), 'up') }
  const low = step(Math.max(shown.low, 1), 'down')
  const high = step(Math.max(shown.high, 1), 'up')
  return high / low >= 2 ? { low, high } : { low, high: step(low * 2, 'up') }
}

// A symmetric scale is linear around its middle, up to about a two-hundredth of its reach, and logarithmic beyond: a small
// change is seen beside a large one.
const NEAR = 200
const bent = (share: number) => (Math.sign(share) * Math.log1p(NEAR * Math.abs(share))) / Math.log1p(NEAR)

/** Return the position of a value, 0 at `low` to 1 at `high`; beyond the ends it is clamped by the table. */
export function position(kind: ScaleKind, { low, high }: Domain, value: number): number {
  const share = (value - low) / (high - low)
  if (kind === 'linear') return share
  if (kind === 'symmetric') return 0.5 + bent(2 * share - 1) / 2
  return value <= low ? 0 : Math.log(value / low) / Math.log(high / low)
}

/** Return the positions of changes on the scale of every picture of changes, which reaches to the largest, or `least`. */
export function changePositions(changes: readonly (number | null)[], least: number): (change: number) => number {
  const reach = Math.max(0, ...changes.map((change) => Math.abs(change ?? 0)))
  const domain = roundDomain('symmetric', { low: -reach, high: reach }, least)
  return (change) => position('symmetric', domain, change)
}

/** Return at most about `count` round values, the ends of a log scale among them. */
export function ticks(kind: ScaleKind, domain: Domain, count: number): number[] {
  const { low, high } = domain
  if (kind === 'linear') return linearTicks(low, high, count)
  if (kind === 'symmetric') {
    const reach = [1, 10, 100].slice(0, Math.floor((count - 1) / 2)).map((part) => (high - low) / 2 / part)
    const middle = (low + high) / 2
    return [...reach.map((far) => middle - far), middle, ...reach.map((far) => middle + far).reverse()]
  }
  // Two labels closer than a tenth of the bar would touch; the ends win.
  const apart = (value: number) => position(kind, domain, value) > 0.1 && position(kind, domain, value) < 0.9
  let inner: number[] = []
  for (const digits of [[1, 2, 3, 5, 7], [1, 2, 5], [1]]) {
    inner = []
    for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10) {
      inner.push(...digits.map((digit) => digit * decade).filter(apart))
    }
    if (inner.length + 2 <= count) break
  }
  return [low, ...inner, high]
}

/** Return true when the kept scale still suits the shown values. */
export function fits(kind: ScaleKind, held: Domain, shown: Domain, least: number): boolean {
  const ideal = roundDomain(kind, shown, least)
  if (kind !== 'log') return ideal.high <= held.high && ideal.high >= held.high / 5
  const slack = Math.log(held.high / held.low) / 2
  return Math.abs(Math.log(ideal.low / held.low)) <= slack && Math.abs(Math.log(ideal.high / held.high)) <= slack
}
