import { expect, test } from 'vitest'
import { bitRateTicks } from './traffic'

test('ticks share the unit of the largest', () => {
  expect(bitRateTicks([0, 5e5, 1e6])).toEqual(['0 Mbit/s', '0.5 Mbit/s', '1 Mbit/s'])
  expect(bitRateTicks([])).toEqual([])
})
