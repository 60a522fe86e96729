import { expect, test } from 'vitest'
import { meansOf } from './measured'

const minutes = (...at: number[]) => at.map((minute) => new Date(minute * 60_000).toISOString())

test('measured minutes are means of steps, shares of the best; a step without a minute has no value', () => {
  const pairs = { points_at: minutes(0, 1, 15, 45), value: [100, 100, 50, 100] }
  expect(meansOf(pairs, 'rate', [0, 900, 1_800, 2_700], 900)).toEqual([1, 0.5, null, 1])
  // Half the rate is twice the duration; minutes before the first step are of no step.
  expect(meansOf({ ...pairs, value: [10, 10, 20, 10] }, 'duration', [900, 1_800], 900)).toEqual([0.5, null])
})
