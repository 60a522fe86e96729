/** Geometry of a sparkline: a line over time in a box, with gaps where values are missing. */

import { extent } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'

export interface Box {
  width: number
  height: number
}

export interface Sparkline {
  /** Path data of the line; empty without values. */
  line: string
  /** The height of the usual value; null without one. */
  usual: number | null
  /** The newest value. */
  end: { x: number; y: number } | null
}

/** Room for the width of the line and for the dot at its end. */
const EDGE = 2.5

/** Return the line through `values` at `times` (any unit), scaled to all of them, to the usual value, and to `from`. */
export function sparkline(
  times: readonly number[],
  values: readonly (number | null)[],
  usual: number | null,
  { width, height }: Box,
  from?: number,
): Sparkline {
  const known = values.filter((value) => value !== null)
  const [low, high] = extent([
    ...known,
    ...(usual === null ? [] : [usual]),
    ...(from === undefined || known.length === 0 ? [] : [from]),
  ])
  const [start, end] = extent(times)
  if (low === undefined || high === undefined || start === undefined || end === undefined) {
    return { line: '', usual: null, end: null }
  }
  const x = scaleLinear([start, end], [EDGE, width - EDGE])
  // Equal values lie in the middle.
  const y = low === high ? () => height / 2 : scaleLinear([low, high], [height - EDGE, EDGE])
  const points = times.map((time, at): [number, number | null] => [x(time), values[at] ?? null])
  const path = line<[number, number | null]>()
    .defined(([, value]) => value !== null)
    .x(([at]) => at)
    .y(([, value]) => y(value ?? 0))
    .digits(1)
  const last = points.findLast(([, value]) => value !== null)
  return {
    line: path(points) ?? '',
    usual: usual === null ? null : y(usual),
    end: last ? { x: last[0], y: y(last[1] ?? 0) } : null,
  }
}
