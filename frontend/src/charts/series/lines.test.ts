import { expect, test } from 'vitest'
import { band, isolated, newest, summary } from './lines'

test('a point between two gaps is still seen', () => {
  expect(isolated([1, null, 2, null, 3, 4, null, 5])).toEqual([0, 2, 7])
  expect(isolated([null, null])).toEqual([])
})

test('a band is as wide as the error on both sides, and missing where either is', () => {
  expect(band([100, null, 50], [20, 20, null])).toEqual({ low: [80, null, null], high: [120, null, null] })
})

test('a band does not promise a delay below zero', () => {
  expect(band([10], [40])).toEqual({ low: [0], high: [50] })
})

test.each([
  [[1, 2, null, 3], { least: 1, most: 3, gaps: 1 }],
  [[null, 2, 5, null], { least: 2, most: 5, gaps: 0 }],
  [[1, null, 2, null, null, 9], { least: 1, most: 9, gaps: 2 }],
  [[null], null],
])('%o sums up to %o', (values, summed) => {
  expect(summary(values)).toEqual(summed)
})

test('the newest value is the last one that is not null', () => {
  expect(newest([1, 2, null])).toBe(1)
  expect(newest([null])).toBeNull()
})
