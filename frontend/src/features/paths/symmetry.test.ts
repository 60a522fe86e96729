import { expect, test } from 'vitest'
import { symmetryRows } from './symmetry'

const direction = (min: number, delays: number[]) => ({
  min_ns: min,
  quantiles_ns: Object.fromEntries(['p50', 'p90', 'p99', 'p999'].map((name, at) => [name, delays[at] as number])),
})

test('a clock offset, which lengthens one direction and shortens the other, changes nothing', () => {
  const offset = 300_000
  const real = symmetryRows(
    direction(80_000, [90_000, 100_000, 140_000, 200_000]),
    direction(85_000, [90_000, 95_000, 99_000, 105_000]),
  )
  const shifted = symmetryRows(
    direction(
      80_000 + offset,
      [90_000, 100_000, 140_000, 200_000].map((ns) => ns + offset),
    ),
    direction(
      85_000 - offset,
      [90_000, 95_000, 99_000, 105_000].map((ns) => ns - offset),
    ),
  )
  expect(shifted).toEqual(real)
  expect(real[2]).toEqual({ name: 'p99', outbound: 60_000, inbound: 14_000, difference: 46_000 })
})

test('an unknown quantile has no difference', () => {
  const nothing = { min_ns: null, quantiles_ns: {} }
  expect(symmetryRows(nothing, direction(1, [2, 3, 4, 5]))[0]).toEqual({
    name: 'p50',
    outbound: null,
    inbound: 1,
    difference: null,
  })
})
