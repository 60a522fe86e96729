/** The way from one picture to the next when rows and columns change: where what both show is in each. */

import { inView, type Shape, type View } from './view'

/** Consecutive places of a space that several grids share: a row of one may be many rows of another. */
export interface Interval {
  first: number
  count: number
}

/** The intervals of the rows and columns of a grid. */
export interface Space {
  rows: readonly Interval[]
  columns: readonly Interval[]
}

/** Return true when both spaces have the same rows and columns in the same places. */
export function isSameSpace(a: Space | undefined, b: Space | undefined): boolean {
  if (a === b) return true
  const isSame = (some: readonly Interval[], others: readonly Interval[]) =>
    some.length === others.length &&
    some.every(({ first, count }, at) => first === others[at]?.first && count === others[at]?.count)
  return a !== undefined && b !== undefined && isSame(a.rows, b.rows) && isSame(a.columns, b.columns)
}

/** A picture of a part of a grid, `cell` pixels a row and column. */
export interface Placed {
  space: Space
  shape: Shape
  view: View
  cell: number
}

/** From a start to an end, in pixels or places. */
interface Stretch {
  start: number
  end: number
}

export interface Rectangle {
  x: Stretch
  y: Stretch
}

const endOf = ({ first, count }: Interval) => first + count

/** Return true when the intervals follow one another. */
const isAscending = (lines: readonly Interval[]) =>
  lines.every((line, at) => at === 0 || endOf(lines[at - 1] as Interval) <= line.first)

/** Return the places in view. */
function seen(lines: readonly Interval[], start: number, count: number): Stretch | null {
  const [first, last] = [lines[Math.floor(start)], lines[Math.min(lines.length, Math.ceil(start + count)) - 1]]
  if (!first || !last) return null
  const from = first.first + (start - Math.floor(start)) * first.count
  const missing = Math.ceil(start + count) - (start + count)
  return { start: from, end: endOf(last) - missing * last.count }
}

/** Return where a place is among the lines, as a fraction of their number; null outside of them. */
function lineAt(lines: readonly Interval[], place: number): number | null {
  const at = lines.findIndex((line) => place >= line.first && place <= endOf(line))
  const line = lines[at]
  return line && line.count > 0 ? at + (place - line.first) / line.count : null
}

/** Return where places are in a picture, in pixels. */
function pixels(lines: readonly Interval[], { start, end }: Stretch, first: number, cell: number): Stretch | null {
  const from = lineAt(lines, start)
  // The end of one line is the start of the next: of the end, the line that it ends.
  const to = lineAt(
    lines.toReversed().map(({ first: at, count }) => ({ first: -(at + count), count })),
    -end,
  )
  if (from === null || to === null) return null
  return { start: (from - first) * cell, end: (lines.length - to - first) * cell }
}

const isWithin = (inner: Stretch, outer: Stretch) => inner.start >= outer.start - 1e-6 && inner.end <= outer.end + 1e-6

interface Side {
  lines: readonly Interval[]
  first: number
  count: number
  cell: number
}

/** Return where what both sides show is in each, when one of them shows all that the other does. */
function common(old: Side, next: Side): [Stretch, Stretch] | null {
  if (!isAscending(old.lines) || !isAscending(next.lines)) return null
  const [before, after] = [seen(old.lines, old.first, old.count), seen(next.lines, next.first, next.count)]
  if (!before || !after) return null
  const inner = isWithin(after, before) ? after : isWithin(before, after) ? before : null
  if (!inner) return null
  const [from, to] = [pixels(old.lines, inner, old.first, old.cell), pixels(next.lines, inner, next.first, next.cell)]
  return from && to && from.end > from.start && to.end > to.start ? [from, to] : null
}

/**
 * Return the rectangles of the old and the new picture that show the same paths; null when neither picture contains all
 * of the other, or the order of rows differs.
 */
export function sameRectangles(old: Placed, next: Placed): [Rectangle, Rectangle] | null {
  const side = ({ space, shape, view, cell }: Placed, axis: 'row' | 'column'): Side => {
    const shown = inView(view, shape)
    return axis === 'row'
      ? { lines: space.rows, first: view.row, count: shown.rows, cell }
      : { lines: space.columns, first: view.column, count: shown.columns, cell }
  }
  const [y, x] = [common(side(old, 'row'), side(next, 'row')), common(side(old, 'column'), side(next, 'column'))]
  return (
    x &&
    y && [
      { x: x[0], y: y[0] },
      { x: x[1], y: y[1] },
    ]
  )
}

/** Return the CSS transform, with its origin at the upper left corner, that moves one rectangle onto another. */
export function transformOf(from: Rectangle, to: Rectangle): string {
  const along = (a: Stretch, b: Stretch) => {
    const scale = (b.end - b.start) / (a.end - a.start)
    return { scale, shift: b.start - a.start * scale }
  }
  const [x, y] = [along(from.x, to.x), along(from.y, to.y)]
  const text = (value: number) => String(Number(value.toFixed(4)))
  return `matrix(${[x.scale, 0, 0, y.scale, x.shift, y.shift].map(text).join(', ')})`
}
