import { expect, test } from 'vitest'
import { deviations, pairs } from '~/testing/overview'
import { changesOf } from './deviation'

const unusual = (values: (number | null)[][], usual: (number | null)[][]) =>
  changesOf(deviations(values, usual)).map(({ isUnusual }) => isUnusual)

const USUAL = pairs(20_000, 300_000, 300_000, 20_000)

test.each([
  ['the same', USUAL, [false, false, false, false]],
  ['within the dead band', pairs(30_000, 310_000, 290_000, 10_000), [false, false, false, false]],
  ['slower and faster', pairs(30_001, 310_001, 289_999, 9_999), [true, true, true, true]],
  ['without a value', pairs(null, 700_000, 300_000, 20_000), [false, true, false, false]],
])('%s', (_, values, expected) => {
  expect(unusual(values, USUAL)).toEqual(expected)
})

test('without a usual value nothing is unusual, and the value is not missing', () => {
  const changes = changesOf(deviations(USUAL, pairs(null, null, null, null)))
  expect(changes.map(({ isUnusual, isMeasured, nowNs }) => [isUnusual, isMeasured, nowNs])).toEqual(
    Array(4).fill([false, true, null]),
  )
})
