import { expect, test } from 'vitest'
import { commonDelayUnit, lossRatio } from './units'

test.each([
  [80, 1, 0.0125],
  [80, 0, 0],
  [0, 0, null],
  [null, 1, null],
  [80, null, null],
])('of %s sent and %s lost, the ratio is %s', (sent, lost, ratio) => {
  expect(lossRatio({ sent, lost })).toBe(ratio)
})

test('the ticks of one scale share the unit of the largest', () => {
  const { unit, divide } = commonDelayUnit(1_390_000)
  expect([unit, divide(500_000)]).toEqual(['ms', 0.5])
})
