import { expect, test } from 'vitest'
import { LOOK } from './grid'
import { changePositions, fits, percentiles, position, roundDomain, step, ticks } from './scale'

test.each([
  [84_213, 'down', 70_000],
  [84_213, 'up', 100_000],
  [100_000, 'down', 100_000],
  [100_000, 'up', 100_000],
  [3, 'up', 3],
  [0.0012, 'up', 0.0015],
] as const)('%d stepped %s is %d', (value, direction, stepped) => {
  expect(step(value, direction)).toBe(stepped)
})

test('the percentiles are of fresh values; of stale ones when no value is fresh', () => {
  const grid = (codes: number[], looks: number[] = []) => ({
    rows: 1,
    columns: codes.length,
    codes: Uint16Array.from(codes),
    looks: Uint8Array.from(codes, (_, i) => looks[i] ?? LOOK.plain),
  })
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  expect(percentiles(grid([0, 0, 0, ...hundred]), (code) => code * 10)).toEqual({ low: 10, high: 990 })
  expect(percentiles(grid([7, 9000], [LOOK.plain, LOOK.veiled]), (code) => code)).toEqual({ low: 7, high: 7 })
  expect(percentiles(grid([7, 9000], [LOOK.veiled, LOOK.veiled]), (code) => code)).toEqual({ low: 7, high: 9000 })
  expect(percentiles(grid([0, 0]), (code) => code)).toBeNull()
})

test.each([
  ['log', { low: 71_000, high: 120_000 }, { low: 70_000, high: 150_000 }],
  ['log', { low: 80_000, high: 81_000 }, { low: 70_000, high: 150_000 }],
  ['linear', { low: 0.01, high: 0.012 }, { low: 0, high: 0.015 }],
  ['linear', { low: 0, high: 0 }, { low: 0, high: 0.001 }],
  ['symmetric', { low: -40, high: 12 }, { low: -50, high: 50 }],
] as const)('a %s scale of %o ends at %o', (kind, shown, domain) => {
  expect(roundDomain(kind, shown, 0.001)).toEqual(domain)
})

test('every picture of changes has one scale: 400 µs are seen beside 15 ms, to both sides, and 2 µs are not', () => {
  const position = changePositions([15_000_000, -400_000, null], 20_000)
  expect(position(-400_000)).toBeCloseTo(1 - position(400_000))
  expect(position(400_000) - 0.5).toBeGreaterThan(0.15)
  expect(position(2_000) - 0.5).toBeLessThan(0.01)
})

test('a symmetric scale has zero in its middle, and shows 400 µs beside 15 ms', () => {
  const domain = { low: -20_000_000, high: 20_000_000 }
  const [none, small, large] = [0, 400_000, 15_000_000].map((value) => position('symmetric', domain, value))
  expect(none).toBe(0.5)
  expect(small).toBeGreaterThan(0.6)
  expect(large).toBeLessThan(0.99)
  expect(ticks('symmetric', domain, 7).map((tick) => tick / 1e5)).toEqual([-200, -20, -2, 0, 2, 20, 200])
})

test.each([
  [70_000, 150_000, [70_000, 100_000, 150_000]],
  [1_000, 1e7, [1_000, 10_000, 100_000, 1e6, 1e7]],
  [50_000, 700_000, [50_000, 100_000, 200_000, 500_000, 700_000]],
])('a log scale from %d to %d is labelled at %o', (low, high, labelled) => {
  expect(ticks('log', { low, high }, 6)).toEqual(labelled)
})

test('a kept scale stays while it suits the values, and changes when they leave it', () => {
  const held = { low: 50_000, high: 200_000 }
  expect(fits('log', held, { low: 52_000, high: 260_000 }, 1)).toBe(true)
  expect(fits('log', held, { low: 50_000, high: 2_000_000 }, 1)).toBe(false)
})
