import { expect, test } from 'vitest'
import { formatChanges, formatShares, performanceBasis } from './performance'

test('a performance names its statistic and its period', () => {
  const window = { from: '2020-11-20T10:00:00Z', to: '2020-11-20T10:30:00Z' }
  const when = '20 Nov 2020, 10:00:00 – 10:30:00 UTC'
  expect(performanceBasis({ statistic: 'p50', window }, 'utc')).toBe(
    `Performance is predicted at the p50 of round trips in the newest window of each path, ${when}.`,
  )
  expect(performanceBasis({ statistic: 'p99', window, minutes: 30, windows: 25 }, 'utc')).toBe(
    `Performance is the mean over 25 windows of the last 30 min, ${when}, predicted at the p99 of round trips in each.`,
  )
  expect(performanceBasis({ statistic: 'p50', window: { from: null, to: null } }, 'utc')).toBe(
    'Performance is predicted at the p50 of round trips in the newest window of each path.',
  )
})

test.each([
  [0.99964, 1, ['99.9 %', '100.0 %']],
  [0.253, 0.253, ['25.3 %', '25.3 %']],
  [0.1, 0.3000000000000001, ['10.0 %', '30.0 %']],
  [null, Number.POSITIVE_INFINITY, ['–', '–']],
] as const)('the interval from %s to %s keeps its width', (low, high, texts) => {
  expect(formatShares(low, high)).toEqual(texts)
})

test('bounds of changes are rounded outward too', () => {
  expect(formatChanges(-0.0001, 0.1199)).toEqual(['−0.1', '+12.0 points'])
  expect(formatChanges(-0.12001, -0.0001)).toEqual(['−12.1', '±0 points'])
})
