/** The visible part of a grid, and the target of pointers and keys. Rows and columns share one scale. */

import type { Cell } from './grid'

/** The visible square, in cells; fractions occur while zooming. */
export interface View {
  row: number
  column: number
  count: number
}

export const wholeView = (size: number): View => ({ row: 0, column: 0, count: size })

export const isWhole = (view: View, size: number) => view.count >= size - 1e-6

/** Keeps a view inside a grid of `size`×`size` cells and no closer than four of them. */
export function clampView(view: View, size: number): View {
  const count = Math.min(size, Math.max(Math.min(4, size), view.count))
  const clamp = (start: number) => Math.min(Math.max(0, start), size - count)
  return { row: clamp(view.row), column: clamp(view.column), count }
}

/** The transform (scale, shift in pixels) of a view drawn `side` pixels wide, as d3-zoom counts. */
export function toTransform(view: View, size: number, side: number): { k: number; x: number; y: number } {
  const pixelsPerCell = side / view.count
  return { k: size / view.count, x: -view.column * pixelsPerCell, y: -view.row * pixelsPerCell }
}

export function fromTransform({ k, x, y }: { k: number; x: number; y: number }, size: number, side: number): View {
  const count = size / k
  const cellsPerPixel = count / side
  return clampView({ row: -y * cellsPerPixel, column: -x * cellsPerPixel, count }, size)
}

/** The cell under a point of the picture, or `null` outside it. */
export function cellAt(x: number, y: number, view: View, size: number, side: number): Cell | null {
  const column = Math.floor(view.column + (x / side) * view.count)
  const row = Math.floor(view.row + (y / side) * view.count)
  return x < 0 || y < 0 || x >= side || y >= side || row >= size || column >= size ? null : { row, column }
}

/** Return the cell that a key leads to, as in the ARIA grid pattern; `null` for other keys. */
export function step(cell: Cell, key: string, ctrl: boolean, size: number): Cell | null {
  const last = size - 1
  const within = (row: number, column: number): Cell => ({
    row: Math.min(last, Math.max(0, row)),
    column: Math.min(last, Math.max(0, column)),
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
      return ctrl ? { row: last, column: last } : { row: cell.row, column: last }
    default:
      return null
  }
}

/** Moves a view just far enough that a cell is in it. */
export function reveal(view: View, cell: Cell, size: number): View {
  const shift = (start: number, index: number) => Math.min(index, Math.max(start, index + 1 - view.count))
  return clampView({ ...view, row: shift(view.row, cell.row), column: shift(view.column, cell.column) }, size)
}
