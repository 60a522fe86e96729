import { expect, test } from 'vitest'
import { cellAt, clampView, fromTransform, reveal, step, toTransform, wholeView } from './view'

test('a pointer finds its cell, also when zoomed', () => {
  expect(cellAt(0, 0, wholeView(10), 10, 500)).toEqual({ row: 0, column: 0 })
  expect(cellAt(499, 51, wholeView(10), 10, 500)).toEqual({ row: 1, column: 9 })
  expect(cellAt(250, 0, { row: 3, column: 4, count: 5 }, 10, 500)).toEqual({ row: 3, column: 6 })
  expect(cellAt(500, 0, wholeView(10), 10, 500)).toBeNull()
})

test('a view survives the way to a zoom transform and back', () => {
  const view = { row: 30, column: 12, count: 25 }
  const back = fromTransform(toTransform(view, 100, 640), 100, 640)
  expect(back.row).toBeCloseTo(view.row)
  expect(back.column).toBeCloseTo(view.column)
  expect(back.count).toBeCloseTo(view.count)
})

test('a view stays inside the grid', () => {
  expect(clampView({ row: 95, column: -3, count: 20 }, 100)).toEqual({ row: 80, column: 0, count: 20 })
  expect(clampView({ row: 0, column: 0, count: 1 }, 3)).toEqual({ row: 0, column: 0, count: 3 })
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
  expect(step({ row: 2, column: 3 }, key, ctrl, 10)).toEqual({ row, column })
})

test('keys stop at the edge, other keys lead nowhere', () => {
  expect(step({ row: 0, column: 0 }, 'ArrowUp', false, 10)).toEqual({ row: 0, column: 0 })
  expect(step({ row: 0, column: 0 }, 'a', false, 10)).toBeNull()
})

test('a view follows the cursor just far enough', () => {
  const view = { row: 10, column: 10, count: 5 }
  expect(reveal(view, { row: 15, column: 12 }, 100)).toEqual({ row: 11, column: 10, count: 5 })
  expect(reveal(view, { row: 9, column: 12 }, 100)).toEqual({ row: 9, column: 10, count: 5 })
  expect(reveal(view, { row: 12, column: 12 }, 100)).toEqual(view)
})
