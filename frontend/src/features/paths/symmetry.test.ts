import { expect, test } from 'vitest'
import { symmetryRows } from './symmetry'

/** Return the delays of a direction whose fastest packet took `min` ns, by clocks that differ by `offset` ns. */
const direction = (min: number, [p50, p90, p99, p999]: [number, number, number, number], offset = 0) => ({
  min_ns: min + offset,
  quantiles_ns: { p50: p50 + offset, p90: p90 + offset, p99: p99 + offset, p999: p999 + offset },
})

test.each([0, 300_000])('a clock offset of %i ns, longer there and shorter back, changes nothing', (offset) => {
  const outbound = direction(80_000, [90_000, 100_000, 140_000, 200_000], offset)
  const inbound = direction(85_000, [90_000, 95_000, 99_000, 105_000], -offset)
  const [p50, , p99] = symmetryRows(outbound, inbound)
  expect(p50).toEqual({ name: 'p50', outbound: 10_000, inbound: 5_000, difference: 5_000 })
  expect(p99).toEqual({ name: 'p99', outbound: 60_000, inbound: 14_000, difference: 46_000 })
})

test('an unknown quantile has no difference', () => {
  const [p50] = symmetryRows({ min_ns: null, quantiles_ns: {} }, direction(1, [2, 3, 4, 5]))
  expect(p50).toEqual({ name: 'p50', outbound: null, inbound: 1, difference: null })
})
