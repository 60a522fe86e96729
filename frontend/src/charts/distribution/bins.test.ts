import { expect, test } from 'vitest'
import { bars, cumulative, cumulativeAbove, delayTicks, extent } from './bins'

const BINS = {
  low: [1_000, 10_000, 100_000],
  high: [2_000, 20_000, 200_000],
  count: [1, 2, 1],
  cumulative: [0.25, 0.75, 1],
}

test('shares climb from zero to one', () => {
  const { x, y } = cumulative(BINS, [2.9, 5.4])
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

test('the axis is as long as the data: empty bins, zero and negative delays have no part of it', () => {
  const bins = {
    low: [0, 1, 100, 300],
    high: [1, 2, 120, 350],
    count: [3, 0, 5, 2],
    cumulative: [0.3, 0.3, 0.8, 1],
  }
  const [from, to] = extent([bins]) as readonly [number, number]
  expect(10 ** from).toBeCloseTo(95.5, 0)
  expect(10 ** to).toBeCloseTo(366.5, 0)
  // Their share is not lost: it stands at the beginning of the axis.
  expect(cumulative(bins, [from, to]).x[0]).toBe(from)
  const { y } = bars(bins, [from, to])
  const middle = y.slice(1, -1).filter((_, i) => i % 2 === 0)
  expect(middle.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1)
})

test.each([
  [100, 1_000, 8, [100, 200, 500, 1_000]],
  [95, 4_000, 8, [100, 200, 500, 1_000, 2_000]],
  [95, 4_000_000, 8, [100, 1_000, 10_000, 100_000, 1_000_000]],
  [1, 1e9, 5, [1, 100, 10_000, 1_000_000, 100_000_000]],
  [180, 260, 5, [180, 200, 220, 240, 260]],
])('the axis from %d to %d ns has round delays', (low, high, most, expected) => {
  const found = delayTicks([Math.log10(low) - 1e-9, Math.log10(high) + 1e-9], most)
  expect(found.map((at) => Math.round(10 ** at))).toEqual(expected)
})

test('nothing has no extent', () => {
  expect(extent([{ low: [], high: [], count: [], cumulative: [] }])).toBeNull()
})

test('above the fastest value a constant offset cancels', () => {
  const moved = (offset: number) => ({
    ...BINS,
    low: BINS.low.map((ns) => ns + offset),
    high: BINS.high.map((ns) => ns + offset),
  })
  const plain = cumulativeAbove(BINS, 1_000, 150_000)
  expect(plain).toEqual({ x: [0, 1_000, 9_000, 19_000, 99_000, 150_000], y: [0, 0.25, 0.25, 0.75, 0.75, 1] })
  expect(cumulativeAbove(moved(-40_000), 1_000 - 40_000, 150_000)).toEqual(plain)
  // The minimum is exact, its bin is not: what lies below it is at zero.
  expect(cumulativeAbove(BINS, 1_500, 150_000).x[0]).toBe(0)
})
