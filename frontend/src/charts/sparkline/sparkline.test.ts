import { expect, test } from 'vitest'
import { sparkline } from './sparkline'

const BOX = { width: 105, height: 25 }

/** Return the points of path data, piece by piece. */
const pieces = (line: string) =>
  line
    .split('M')
    .slice(1)
    .map((piece) => piece.split('L').map((point) => point.replace('Z', '').split(',').map(Number)))

test('a rise ends at the top, above the usual value', () => {
  const { line, usual, end } = sparkline([0, 50, 100], [60, 60, 412], 60, BOX)
  expect(pieces(line)).toEqual([
    [
      [2.5, 22.5],
      [52.5, 22.5],
      [102.5, 2.5],
    ],
  ])
  expect(usual).toBe(22.5)
  expect(end).toEqual({ x: 102.5, y: 2.5 })
})

test('a missing value is a gap, not a zero', () => {
  const { line } = sparkline([0, 1, 2, 3, 4], [10, 20, null, 20, 10], null, BOX)
  const heights = pieces(line).map((piece) => piece.map(([, y]) => y))
  expect(heights).toEqual([
    [22.5, 2.5],
    [2.5, 22.5],
  ])
})

test('equal values lie in the middle', () => {
  const { line, usual } = sparkline([0, 1], [5, 5], 5, BOX)
  expect(pieces(line)[0]?.map(([, y]) => y)).toEqual([12.5, 12.5])
  expect(usual).toBe(12.5)
})

test('the scale contains the usual value, also below all others', () => {
  const { usual, end } = sparkline([0, 1], [400, 300], 100, BOX)
  expect(usual).toBe(22.5)
  expect(end?.y).toBeLessThan(22.5)
})

test('without values there is no line', () => {
  expect(sparkline([], [], null, BOX)).toEqual({ line: '', usual: null, end: null })
  expect(sparkline([0, 1], [null, null], null, BOX).line).toBe('')
})
