/** Lines from the bins of a histogram of delays; on a logarithmic axis, x is log10 of nanoseconds. */

import { range, ticks } from 'd3-array'
import type { Points } from '../curve/geometry'

/** Non-empty bins in ascending order: values in [low, high), ns; `cumulative` is the share of values below `high`. */
export interface Bins {
  low: number[]
  high: number[]
  count: number[]
  cumulative: number[]
}

const log = (ns: number) => Math.log10(Math.max(1, ns))

/** The share of values below each delay, as a staircase from 0 to 1. What lies below the axis is at its beginning. */
export function cumulative(bins: Bins, [from]: readonly [number, number]): Points {
  const x: number[] = []
  const y: number[] = []
  let before = 0
  bins.low.forEach((low, i) => {
    x.push(Math.max(from, log(low)), Math.max(from, log(bins.high[i] as number)))
    const share = bins.cumulative[i] as number
    y.push(before, share)
    before = share
  })
  return { x, y }
}

/** Return the share of values below each delay above `base` (ns), on a linear axis from 0 to `end` ns. */
export function cumulativeAbove(bins: Bins, base: number, end: number): Points {
  const above = (ns: number) => Math.min(end, Math.max(0, ns - base))
  let before = 0
  const steps = bins.low.flatMap((low, i) => {
    const from = before
    before = bins.cumulative[i] as number
    return [
      { x: above(low), y: from },
      { x: above(bins.high[i] as number), y: before },
    ]
  })
  return { x: steps.map(({ x }) => x), y: steps.map(({ y }) => y) }
}

const BARS = 60

/** Shares of values within equal steps of the axis, as the outline of bars. */
export function bars(bins: Bins, [from, to]: readonly [number, number]): Points {
  const width = (to - from) / BARS
  const shares = new Array<number>(BARS).fill(0)
  const total = bins.count.reduce((sum, count) => sum + count, 0)
  bins.low.forEach((low, i) => {
    const start = Math.max(from, log(low))
    const end = Math.max(log(bins.high[i] as number), start + 1e-9)
    // A bin may lie across two bars: each gets its part.
    for (let bar = Math.max(0, Math.floor((start - from) / width)); bar < BARS; bar++) {
      const inside = Math.min(end, from + (bar + 1) * width) - Math.max(start, from + bar * width)
      if (inside <= 0) break
      shares[bar] = (shares[bar] as number) + ((bins.count[i] as number) / total) * (inside / (end - start))
    }
  })
  const x: number[] = [from]
  const y: number[] = [0]
  shares.forEach((share, bar) => {
    x.push(from + bar * width, from + (bar + 1) * width)
    y.push(share, share)
  })
  return { x: [...x, to], y: [...y, 0] }
}

/** Return the range of the bins that have values, with a small margin; null when all are empty. */
export function extent(all: Bins[]): readonly [number, number] | null {
  const filled = all.flatMap(({ low, high, count }) =>
    low.map((from, i) => ({ from, to: high[i] as number })).filter((_, i) => (count[i] as number) > 0),
  )
  if (filled.length === 0) return null
  // A logarithmic axis has no place for zero, nor for a delay that a clock error makes negative.
  const positive = filled.filter(({ from }) => from > 0)
  const low = log(Math.min(...(positive.length > 0 ? positive : filled).map(({ from }) => from)))
  const high = log(Math.max(...filled.map(({ to }) => to)))
  return [low - 0.02, Math.max(high, low + 0.1) + 0.02]
}

/** Return at most about `most` round delays on the axis: 1, 2 and 5 of each decade, or only 1 where these are many. */
export function delayTicks([from, to]: readonly [number, number], most: number): number[] {
  const decades = range(Math.floor(from), Math.ceil(to) + 1)
  for (const digits of [[1, 2, 5], [1]]) {
    const round = decades
      .flatMap((decade) => digits.map((digit) => decade + Math.log10(digit)))
      .filter((at) => at >= from && at <= to)
    if (round.length >= 2 && round.length <= most) return round
  }
  const whole = decades.filter((decade) => decade >= from && decade <= to)
  if (whole.length > most) return whole.filter((_, i) => i % Math.ceil(whole.length / most) === 0)
  // Within less than a decade, round steps are even ones.
  return ticks(10 ** from, 10 ** to, most).map(log)
}
