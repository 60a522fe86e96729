/** Lines on a logarithmic axis from the bins of a response: x is log10 of nanoseconds. */

import type { Bins } from '~/api/types'
import type { Points } from '~/charts/curve/geometry'

const log = (ns: number) => Math.log10(Math.max(1, ns))

/** The share of values below each delay, as a staircase from 0 to 1. */
export function cumulative(bins: Bins): Points {
  const x: number[] = []
  const y: number[] = []
  let before = 0
  bins.low.forEach((low, i) => {
    x.push(log(low), log(bins.high[i] as number))
    const share = bins.cumulative[i] as number
    y.push(before, share)
    before = share
  })
  return { x, y }
}

const BARS = 60

/** Shares of values within equal steps of the axis, as the outline of bars. */
export function bars(bins: Bins, [from, to]: readonly [number, number]): Points {
  const width = (to - from) / BARS
  const shares = new Array<number>(BARS).fill(0)
  const total = bins.count.reduce((sum, count) => sum + count, 0)
  bins.low.forEach((low, i) => {
    const [start, end] = [log(low), Math.max(log(bins.high[i] as number), log(low) + 1e-9)]
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

/** Return the range of all bins with a small margin; null when all are empty. */
export function extent(all: Bins[]): readonly [number, number] | null {
  const lows = all.flatMap((bins) => bins.low.slice(0, 1))
  const highs = all.flatMap((bins) => bins.high.slice(-1))
  if (lows.length === 0) return null
  const [low, high] = [log(Math.min(...lows)), log(Math.max(...highs))]
  return [low - 0.02, Math.max(high, low + 0.1) + 0.02]
}
