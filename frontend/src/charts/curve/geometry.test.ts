import { expect, test } from 'vitest'
import { bandPath, fiveMarks, linePath, scales, valueAt } from './geometry'

const to = scales({ width: 120, height: 60, left: 10, right: 10, top: 5, bottom: 5, x: [0, 100], y: [0, 1] })

test('zero is at the bottom left and the end at the top right', () => {
  expect([to.x(0), to.y(0), to.x(100), to.y(1)]).toEqual([10, 55, 110, 5])
})

test('a line passes through its points', () => {
  expect(linePath({ x: [0, 50, 100], y: [1, 0.5, 0] }, to)).toBe('M10,5L60,30L110,55')
})

test('a band follows its high edge forwards and its low edge backwards', () => {
  expect(bandPath({ x: [0, 100], low: [0, 0], high: [1, 1] }, to)).toBe('M10,5L110,5L110,55L10,55Z')
})

const curve = { x: [0, 40, 40.001, 140.001], y: [1, 1, 0.95, 0.55] }

test.each([
  [0, 1],
  [20, 1],
  [40.001, 0.95],
  [90.001, 0.75],
  [140.001, 0.55],
])('at %d µs it says %d', (at, value) => {
  expect(valueAt(curve, at)).toBeCloseTo(value, 9)
})

test('outside its points a curve says nothing, and without points nothing is drawn', () => {
  expect([valueAt(curve, -1), valueAt(curve, 141), valueAt({ x: [], y: [] }, 0)]).toEqual([null, null, null])
  expect(linePath({ x: [], y: [] }, to)).toBe('')
})

test('marks of a distribution are those percentiles', () => {
  expect(fiveMarks(Array.from({ length: 101 }, (_, i) => i * 10))).toEqual([10, 250, 500, 750, 990])
})
