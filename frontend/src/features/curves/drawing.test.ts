import { expect, test } from 'vitest'
import { bandOf, joined } from './drawing'

const even = { added_us: [0, 50, 100], performance: [1, 0.9, 0.8], low: [0.9, 0.8, 0.7], high: [1, 1, 0.9] }
const outline = { added_us: [0, 39.999, 40], performance: [1, 1, 0.95], low: [1, 1, 0.9], high: [1, 1, 1] }

test('two tables of one curve are read in the order of latency', () => {
  const both = joined(even, outline)
  expect(both.added_us).toEqual([0, 0, 39.999, 40, 50, 100])
  expect(both.performance).toEqual([1, 1, 1, 0.95, 0.9, 0.8])
  expect(both.low).toEqual([0.9, 1, 1, 0.9, 0.8, 0.7])
})

test('the band of a curve lies over its latencies', () => {
  expect(bandOf(even)).toEqual({ x: [0, 50, 100], low: [0.9, 0.8, 0.7], high: [1, 1, 0.9] })
})
