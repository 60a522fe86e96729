/** Arrows between places: each leaves along the row of the one and arrives along the column of the other. */

import type { Extent } from './axis'
import type { View } from './view'

/** A row and a column; null where an axis does not have the place. */
export interface Place {
  row: number | null
  column: number | null
}

export interface Arrow {
  /** Everything that goes between these two places. */
  keys: string[]
  /** Null when it comes from nowhere. */
  from: Place | null
  to: Place
  /** The colours of its beginning and its end, 0 to 1 on the ramp of lines; null when unknown. */
  shares: [number | null, number | null]
  /** Written on it. */
  label: string
  /** Drawn as a whole line; otherwise dashed. */
  isMade: boolean
}

export interface Point {
  x: number
  y: number
}

/** An arrow in CSS pixels of the picture. */
export interface Route {
  /** The line, as the data of an SVG path. */
  line: string
  start: Point
  tip: Point
  /** The unit vector of the line at its tip. */
  into: Point
  /** The place of its label. */
  badge: Point
}

export interface Lane {
  row: number
  column: number
}

/** An arrow with less distance to cover bulges, so that it is seen however small the cells are. */
const LEAST = 26
const CORNER = 6
/** From the edge to a line between two rows, or two columns, that have no cell in common. */
const BRACKET = 18
/** Cells of this size may have a figure in their middle, which a line must not cross. */
const FIGURED = 46
/** Between two lines in the same row or column. */
const LANE = 5

/** Return the lane of each arrow among those of its row and of its column: 0, 1, −1, 2 … */
export function lanesOf(arrows: readonly Pick<Arrow, 'from' | 'to'>[]): Lane[] {
  const counts = new Map<string, number>()
  const next = (key: string) => {
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return count % 2 === 1 ? (count + 1) / 2 : 0 - count / 2
  }
  return arrows.map(({ from, to }) => ({
    row: next(`from ${from?.row} ${from?.column}`),
    column: next(`to ${to.row} ${to.column}`),
  }))
}

/** Return where an arrow runs; null when neither end is among the rows and columns. It bulges into the picture. */
export function route(
  { from, to }: Pick<Arrow, 'from' | 'to'>,
  lane: Lane,
  view: View,
  cell: number,
  size = { width: view.count * cell, height: view.count * cell },
): Route | null {
  const shift = Math.min(LANE, cell / 5)
  const aside = cell >= FIGURED ? 0.32 * cell : 0
  const x = (column: number, by = 0) => (column + 0.5 - view.column) * cell + by
  const y = (row: number, by = 0) => (row + 0.5 - view.row) * cell + by
  /** The middle of a cell, or the edge of the picture at a row or a column. */
  const at = ({ row, column }: Place): Point | null =>
    row === null && column === null ? null : { x: column === null ? 0 : x(column), y: row === null ? 0 : y(row) }
  const [start, tip] = [from && at(from), at(to)]
  if (!start || !from) return tip && through({ x: tip.x + LEAST, y: tip.y - LEAST }, [], tip)
  if (!tip) return through(start, [], { x: start.x + LEAST, y: start.y - LEAST })
  const isCell = from.row !== null && from.column !== null && to.row !== null && to.column !== null
  const reach = Math.max(Math.abs(tip.x - start.x), Math.abs(tip.y - start.y))
  if (isCell && reach < Math.max(LEAST, cell / 2)) return bulge(start, tip, cell, size)
  if (from.row !== null && to.column !== null) {
    const side = to.column >= (from.column ?? to.column) ? 1 : -1
    const corner = { x: tip.x - aside + lane.column * shift, y: start.y + aside + lane.row * shift }
    const inset = isCell ? 0.3 * cell * side : 0
    return through({ x: start.x + inset, y: corner.y }, [corner], { x: corner.x, y: tip.y - inset })
  }
  if (from.column !== null && to.row !== null) return through(start, [{ x: start.x, y: tip.y }], tip)
  const out = BRACKET + 2 * LANE * Math.abs(lane.row)
  const beside = (end: Point): Point => (from.row === null ? { x: end.x, y: out } : { x: out, y: end.y })
  return through(start, [beside(start), beside(tip)], tip)
}

/** A line through corners, which are rounded. */
function through(start: Point, corners: Point[], tip: Point): Route {
  const last = corners.at(-1) ?? start
  const rounded = corners.map((corner, n) => {
    const [before, after] = [toward(corner, corners[n - 1] ?? start), toward(corner, corners[n + 1] ?? tip)]
    return `L${before.x} ${before.y}Q${corner.x} ${corner.y} ${after.x} ${after.y}`
  })
  return {
    line: `M${start.x} ${start.y}${rounded.join('')}L${tip.x} ${tip.y}`,
    start,
    tip,
    into: unit(last, tip),
    badge: corners.length > 0 ? last : start,
  }
}

/** Return a curved line: it leaves `start` sideways and reaches `tip` from above or below, within the picture. */
function bulge(start: Point, tip: Point, cell: number, { width, height }: { width: number; height: number }): Route {
  const side = tip.x < start.x || (tip.x === start.x && tip.y < start.y) ? -1 : 1
  const [inset, far] = [cell / 2.4, 1.5 * LEAST + cell / 6]
  /** The outer one of two, to the positive or the negative side. */
  const outer = (a: number, b: number, to: number) => to * Math.max(a * to, b * to)
  const roomy = (a: number, b: number, to: number, most: number) => {
    const end = outer(a, b, to) + to * (inset + far / 2)
    return end < 0 || end > most ? -to : to
  }
  const across = roomy(start.x, tip.x, side, width)
  const along = roomy(start.y, tip.y, -side, height)
  const [from, to] = [
    { x: start.x + across * inset, y: start.y },
    { x: tip.x, y: tip.y + along * inset },
  ]
  const [first, second] = [
    { x: outer(from.x, to.x, across) + across * far, y: from.y },
    { x: to.x, y: outer(from.y, to.y, along) + along * far },
  ]
  const middle = (a: number, b: number, c: number, d: number) => (a + 3 * b + 3 * c + d) / 8
  return {
    line: `M${from.x} ${from.y}C${first.x} ${first.y} ${second.x} ${second.y} ${to.x} ${to.y}`,
    start: from,
    tip: to,
    into: unit(second, to),
    badge: { x: middle(from.x, first.x, second.x, to.x), y: middle(from.y, first.y, second.y, to.y) },
  }
}

/** Return the unit vector from one point to another. */
function unit(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
}

/** Return the point at which a rounded corner begins, on the way to a neighbour. */
function toward(corner: Point, neighbour: Point): Point {
  const way = unit(corner, neighbour)
  const length = Math.min(CORNER, Math.hypot(neighbour.x - corner.x, neighbour.y - corner.y) / 2)
  return { x: corner.x + way.x * length, y: corner.y + way.y * length }
}

const HEAD = { length: 9, width: 8 }

/** Return the head of an arrow as the data of an SVG path. */
export function headOf({ tip, into }: Route): string {
  const back = { x: tip.x - into.x * HEAD.length, y: tip.y - into.y * HEAD.length }
  const [across, down] = [(-into.y * HEAD.width) / 2, (into.x * HEAD.width) / 2]
  return `M${tip.x} ${tip.y}L${back.x + across} ${back.y + down}L${back.x - across} ${back.y - down}Z`
}

/** Return outlines of cells as the data of an SVG path; small cells get outlines that can be seen. */
export function outlines(cells: readonly { row: number; column: number }[], view: View, cell: number): string {
  const side = Math.max(cell, 5)
  const corner = (index: number, start: number) => (index + 0.5 - start) * cell - side / 2
  return cells
    .map(({ row, column }) => `M${corner(column, view.column)} ${corner(row, view.row)}h${side}v${side}h${-side}Z`)
    .join('')
}

/** Return the frames of the row and of the column of a place. */
export function frames({ row, column }: Place, view: View, cell: number, { width, height }: Extent): string {
  const side = Math.max(cell, 3)
  const start = (index: number, first: number) => (index + 0.5 - first) * cell - side / 2
  const level = row === null ? '' : `M0 ${start(row, view.row)}h${width}v${side}h${-width}Z`
  return level + (column === null ? '' : `M${start(column, view.column)} 0h${side}v${height}h${-side}Z`)
}
