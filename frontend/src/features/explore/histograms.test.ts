import { expect, test } from 'vitest'
import { bars, cumulative, extent } from './histograms'

const BINS = {
  low: [1_000, 10_000, 100_000],
  high: [2_000, 20_000, 200_000],
  count: [1, 2, 1],
  cumulative: [0.25, 0.75, 1],
}

test('shares climb from zero to one', () => {
  const { x, y } = cumulative(BINS)
  expect(y).toEqual([0, 0.25, 0.25, 0.75, 0.75, 1])
  expect(x[0]).toBeCloseTo(3)
  expect([...x]).toEqual([...x].sort((a, b) => a - b))
})

test('bars hold every value once', () => {
  const range = extent([BINS]) as readonly [number, number]
  const { x, y } = bars(BINS, range)
  const middle = y.slice(1, -1).filter((_, i) => i % 2 === 0)
  expect(middle.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1)
  expect([x[0], x.at(-1)]).toEqual([...range])
})

test('nothing has no extent', () => {
  expect(extent([{ low: [], high: [], count: [], cumulative: [] }])).toBeNull()
})
