import { expect, test } from 'vitest'
import { cellAt, clampView, fromTransform, inView, reveal, type Shape, step, toTransform, wholeView } from './view'

const square = (size: number): Shape => ({ rows: size, columns: size })
/** Rows of a small zone, columns of a large one. */
const WIDE: Shape = { rows: 3, columns: 12 }

test('a pointer finds its cell, also when zoomed', () => {
  expect(cellAt(0, 0, wholeView(square(10)), square(10), 500)).toEqual({ row: 0, column: 0 })
  expect(cellAt(499, 51, wholeView(square(10)), square(10), 500)).toEqual({ row: 1, column: 9 })
  expect(cellAt(250, 0, { row: 3, column: 4, count: 5 }, square(10), 500)).toEqual({ row: 3, column: 6 })
  expect(cellAt(500, 0, wholeView(square(10)), square(10), 500)).toBeNull()
})

test('a view survives the way to a zoom transform and back', () => {
  const view = { row: 30, column: 12, count: 25 }
  const back = fromTransform(toTransform(view, 100, 640), square(100), 640)
  expect(back.row).toBeCloseTo(view.row)
  expect(back.column).toBeCloseTo(view.column)
  expect(back.count).toBeCloseTo(view.count)
})

test('a view stays inside the grid', () => {
  expect(clampView({ row: 95, column: -3, count: 20 }, square(100))).toEqual({ row: 80, column: 0, count: 20 })
  expect(clampView({ row: 0, column: 0, count: 1 }, square(3))).toEqual({ row: 0, column: 0, count: 3 })
})

test.each([
  ['ArrowRight', false, [2, 4]],
  ['ArrowLeft', false, [2, 2]],
  ['ArrowUp', false, [1, 3]],
  ['ArrowDown', false, [3, 3]],
  ['Home', false, [2, 0]],
  ['End', false, [2, 9]],
  ['Home', true, [0, 0]],
  ['End', true, [9, 9]],
  ['PageDown', false, [9, 3]],
])('%s (ctrl %s) leads from 2, 3 to %o', (key, ctrl, [row, column]) => {
  expect(step({ row: 2, column: 3 }, key, ctrl, square(10))).toEqual({ row, column })
})

test('keys stop at the edge, other keys lead nowhere', () => {
  expect(step({ row: 0, column: 0 }, 'ArrowUp', false, square(10))).toEqual({ row: 0, column: 0 })
  expect(step({ row: 0, column: 0 }, 'a', false, square(10))).toBeNull()
})

test('a view follows the cursor just far enough', () => {
  const view = { row: 10, column: 10, count: 5 }
  expect(reveal(view, { row: 15, column: 12 }, square(100))).toEqual({ row: 11, column: 10, count: 5 })
  expect(reveal(view, { row: 9, column: 12 }, square(100))).toEqual({ row: 9, column: 10, count: 5 })
  expect(reveal(view, { row: 12, column: 12 }, square(100))).toEqual(view)
})

test('a grid with fewer rows than columns has no cells below its last row', () => {
  expect(inView(wholeView(WIDE), WIDE)).toEqual({ rows: 3, columns: 12 })
  expect(cellAt(10, 100, wholeView(WIDE), WIDE, 480)).toEqual({ row: 2, column: 0 })
  expect(cellAt(10, 121, wholeView(WIDE), WIDE, 480)).toBeNull()
  expect(clampView({ row: 2, column: 11, count: 6 }, WIDE)).toEqual({ row: 0, column: 6, count: 6 })
})

test('keys walk a grid with fewer rows than columns to its own edges', () => {
  expect(step({ row: 2, column: 11 }, 'ArrowDown', false, WIDE)).toEqual({ row: 2, column: 11 })
  expect(step({ row: 0, column: 0 }, 'End', true, WIDE)).toEqual({ row: 2, column: 11 })
  expect(reveal({ row: 0, column: 0, count: 4 }, { row: 2, column: 11 }, WIDE)).toEqual({ row: 0, column: 8, count: 4 })
})
