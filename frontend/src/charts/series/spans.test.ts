import { expect, test } from 'vitest'
import { clipped, withLimits } from './spans'

const limit = (value: number) => ({ label: 'Limit', value, colour: 'red' })

test('the vertical extent shows limits beyond the values', () => {
  expect(withLimits([limit(200)], 100, 120)).toEqual([90, 210])
  expect(withLimits([limit(50)], 100, 150)).toEqual([40, 160])
  expect(withLimits(undefined, 10, 20)).toEqual([9, 21])
})

test('delays are not drawn below zero, differences are', () => {
  expect(withLimits([limit(1)], 0, 100)).toEqual([0, 110])
  expect(withLimits([limit(100)], -100, 50)).toEqual([-120, 120])
})

test('a chart without values has an extent', () => {
  expect(withLimits(undefined, null, null)).toEqual([0, 1])
  expect(withLimits([limit(100)], null, null)).toEqual([99.4, 100.6])
})

test('values that hardly differ are not magnified', () => {
  const [low, high] = withLimits(undefined, 87_555_200, 87_557_000)
  expect(high - low).toBeCloseTo(1.2 * 875_570, -2)
  expect((low + high) / 2).toBeCloseTo(87_556_100, 0)
})

test('a span is drawn only within the range', () => {
  expect(clipped({ from: 5, to: 20 }, [10, 30])).toEqual([10, 20])
  expect(clipped({ from: 12, to: 40 }, [10, 30])).toEqual([12, 30])
  expect(clipped({ from: 1, to: 10 }, [10, 30])).toBeNull()
})
