/** Geometry of a sparkline: a line over time in a box, with gaps where values are missing. */

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

/** Return the places of values; equal ones lie in the middle. Scales of d3 would come with their colours into every list. */
const between = (low: number, high: number, from: number, to: number) => (value: number) =>
  low === high ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from)

const tenths = (length: number) => Math.round(10 * length) / 10

/** Return the line through `values` at `times` (any unit), scaled to all of them, to the usual value, and to `from`. */
export function sparkline(
  times: readonly number[],
  values: readonly (number | null)[],
  usual: number | null,
  { width, height }: Box,
  from?: number,
): Sparkline {
  const known = values.filter((value) => value !== null)
  const scaled = [
    ...known,
    ...(usual === null ? [] : [usual]),
    ...(from === undefined || known.length === 0 ? [] : [from]),
  ]
  if (scaled.length === 0 || times.length === 0) return { line: '', usual: null, end: null }
  const [low, high, start, end] = [Math.min(...scaled), Math.max(...scaled), Math.min(...times), Math.max(...times)]
  const x = between(start, end, EDGE, width - EDGE)
  const y = between(low, high, height - EDGE, EDGE)
  const points = times.map((time, at): [number, number | null] => [x(time), values[at] ?? null])
  let path = ''
  for (const [at, [across, value]] of points.entries()) {
    if (value === null) continue
    const isFirst = (points[at - 1]?.[1] ?? null) === null
    const isAlone = isFirst && (points[at + 1]?.[1] ?? null) === null
    path += `${isFirst ? 'M' : 'L'}${tenths(across)},${tenths(y(value))}${isAlone ? 'Z' : ''}`
  }
  const last = points.findLast(([, value]) => value !== null)
  return {
    line: path,
    usual: usual === null ? null : y(usual),
    end: last ? { x: last[0], y: y(last[1] ?? 0) } : null,
  }
}
