/** Pure parts of curve charts: geometry, and interpolation between points. */

import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'

export interface Points {
  x: readonly number[]
  y: readonly number[]
}

export interface Band {
  x: readonly number[]
  low: readonly number[]
  high: readonly number[]
}

export interface Frame {
  width: number
  height: number
  /** Room for the axes. */
  left: number
  right: number
  top: number
  bottom: number
  x: readonly [number, number]
  y: readonly [number, number]
}

/** Return functions from values to pixels. */
export function scales({ width, height, left, right, top, bottom, x, y }: Frame) {
  return {
    x: scaleLinear([x[0], x[1]], [left, Math.max(left + 1, width - right)]),
    y: scaleLinear([y[0], y[1]], [height - bottom, top]),
  }
}

type Scales = ReturnType<typeof scales>

const pixel = (value: number) => Math.round(value * 100) / 100

/** Return a line through points, as the `d` of a path. */
export function linePath({ x, y }: Points, to: Scales): string {
  const draw = line<number>(
    (_, i) => pixel(to.x(x[i] as number)),
    (_, i) => pixel(to.y(y[i] as number)),
  )
  return draw(Array.from(x)) ?? ''
}

/** Return the area between two lines, as the `d` of a path. */
export function bandPath({ x, low, high }: Band, to: Scales): string {
  const draw = area<number>(
    (_, i) => pixel(to.x(x[i] as number)),
    (_, i) => pixel(to.y(low[i] as number)),
    (_, i) => pixel(to.y(high[i] as number)),
  )
  return draw(Array.from(x)) ?? ''
}

/** Return the value of a line at x, interpolated; `null` beyond its last point. */
export function valueAt({ x, y }: Points, at: number): number | null {
  const last = x.length - 1
  if (last < 0 || at < (x[0] as number) || at > (x[last] as number)) return null
  let low = 0
  let high = last
  // The last point at or before `at`: where a curve steps down, the lower value holds.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((x[middle] as number) <= at) low = middle
    else high = middle - 1
  }
  if (low === last) return y[last] as number
  const [x0, x1, y0, y1] = [x[low], x[low + 1], y[low], y[low + 1]] as [number, number, number, number]
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0)
}

/** Return the five marks of a distribution from its percentiles 0 … 100: p1, p25, p50, p75, p99. */
export function fiveMarks(percentiles: readonly number[]): [number, number, number, number, number] {
  const at = (p: number) => percentiles[Math.round((p / 100) * (percentiles.length - 1))] as number
  return [at(1), at(25), at(50), at(75), at(99)]
}
