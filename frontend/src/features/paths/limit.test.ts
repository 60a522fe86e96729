import { expect, test } from 'vitest'
import { suggestedLimit } from './limit'

test.each([
  // Beyond the dead band (of which nothing is unusual), and a number that a person would type.
  [{ baseline_ns: 80_123, dead_band_ns: 5_000 }, 91_000],
  [{ baseline_ns: 80_000, dead_band_ns: 5_000 }, 90_000],
  [{ baseline_ns: 1_400_000, dead_band_ns: 33_000 }, 1_500_000],
  [{ baseline_ns: null, dead_band_ns: null }, undefined],
  // A clock offset may make a delay negative: no limit says anything then.
  [{ baseline_ns: -40_000, dead_band_ns: 5_000 }, undefined],
  [undefined, undefined],
])('for %o the limit is %o ns', (deviation, limit) => {
  expect(suggestedLimit(deviation)).toBe(limit)
})
