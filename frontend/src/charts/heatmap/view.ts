/** The visible part of a grid, and the target of pointers and keys. Rows and columns share one scale. */

import type { Cell } from './grid'

export interface Shape {
  rows: number
  columns: number
}

/** The visible part, in cells; fractions occur while zooming. At most `count` rows and as many columns are in it. */
export interface View {
  row: number
  column: number
  count: number
}

export const longest = ({ rows, columns }: Shape) => Math.max(rows, columns)

export const wholeView = (shape: Shape): View => ({ row: 0, column: 0, count: longest(shape) })

export const isWhole = (view: View, shape: Shape) => view.count >= longest(shape) - 1e-6

export const isSameView = (a: View, b: View) => a.row === b.row && a.column === b.column && a.count === b.count

/** Return how many rows and columns a view shows. */
export const inView = ({ count }: View, { rows, columns }: Shape): Shape => ({
  rows: Math.min(rows, count),
  columns: Math.min(columns, count),
})

/** Least number of rows and columns of a view. */
export const CLOSEST = 4

/** A point of the picture as shares of its longer side. */
export interface Point {
  x: number
  y: number
}

/** Keeps a view inside a grid and no closer than `closest` cells. */
export function clampView(view: View, shape: Shape, closest = CLOSEST): View {
  const size = longest(shape)
  const count = Math.min(size, Math.max(Math.min(closest, size), view.count))
  const clamp = (start: number, cells: number) => Math.min(Math.max(0, start), cells - Math.min(cells, count))
  return { row: clamp(view.row, shape.rows), column: clamp(view.column, shape.columns), count }
}

/** Return the transform (scale, shift in pixels) of a view whose longer side is `side` pixels, as d3-zoom counts. */
export function toTransform(view: View, size: number, side: number): { k: number; x: number; y: number } {
  const pixelsPerCell = side / view.count
  return { k: size / view.count, x: -view.column * pixelsPerCell, y: -view.row * pixelsPerCell }
}

export function fromTransform(
  { k, x, y }: { k: number; x: number; y: number },
  shape: Shape,
  side: number,
  closest = CLOSEST,
): View {
  const count = longest(shape) / k
  const cellsPerPixel = count / side
  return clampView({ row: -y * cellsPerPixel, column: -x * cellsPerPixel, count }, shape, closest)
}

/** Return the cell under a point of the picture, or `null` outside it. */
export function cellAt(x: number, y: number, view: View, shape: Shape, side: number): Cell | null {
  const column = Math.floor(view.column + (x / side) * view.count)
  const row = Math.floor(view.row + (y / side) * view.count)
  const isOutside = x < 0 || y < 0 || x >= side || y >= side || row >= shape.rows || column >= shape.columns
  return isOutside ? null : { row, column }
}

/** Return the cell that a key leads to, as in the ARIA grid pattern; `null` for other keys. */
export function step(cell: Cell, key: string, ctrl: boolean, shape: Shape): Cell | null {
  const [lastRow, lastColumn] = [shape.rows - 1, shape.columns - 1]
  const within = (row: number, column: number): Cell => ({
    row: Math.min(lastRow, Math.max(0, row)),
    column: Math.min(lastColumn, Math.max(0, column)),
  })
  switch (key) {
    case 'ArrowUp':
      return within(cell.row - 1, cell.column)
    case 'ArrowDown':
      return within(cell.row + 1, cell.column)
    case 'ArrowLeft':
      return within(cell.row, cell.column - 1)
    case 'ArrowRight':
      return within(cell.row, cell.column + 1)
    case 'PageUp':
      return within(cell.row - 10, cell.column)
    case 'PageDown':
      return within(cell.row + 10, cell.column)
    case 'Home':
      return ctrl ? { row: 0, column: 0 } : { row: cell.row, column: 0 }
    case 'End':
      return ctrl ? { row: lastRow, column: lastColumn } : { row: cell.row, column: lastColumn }
    default:
      return null
  }
}

/** Moves a view just far enough that a cell is in it. */
export function reveal(view: View, cell: Cell, shape: Shape): View {
  const shown = inView(view, shape)
  const shift = (start: number, index: number, count: number) => Math.min(index, Math.max(start, index + 1 - count))
  const row = shift(view.row, cell.row, shown.rows)
  return clampView({ ...view, row, column: shift(view.column, cell.column, shown.columns) }, shape)
}
