import { expect, test } from 'vitest'
import {
  formatChange,
  formatChanges,
  formatMicroseconds,
  formatProbability,
  formatShare,
  formatShares,
  formatTick,
  lookBack,
  performanceBasis,
} from './performance'

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
  [30, 'the last 30 min'],
  [60, 'the last hour'],
  [90, 'the last 90 min'],
  [1_440, 'the last 24 h'],
])('the look-back of %i min is written %s', (minutes, text) => expect(lookBack(minutes)).toBe(text))

test.each([
  [0.79681, '79.7 %'],
  [1, '100.0 %'],
  [null, '–'],
  [Number.NaN, '–'],
])('the share %s is written %s', (share, text) => {
  expect(formatShare(share)).toBe(text)
})

test.each([
  [-0.1234, '−12.3 points'],
  [0.05, '+5.0 points'],
  [-0.0001, '±0 points'],
  [undefined, '–'],
])('the change %s is written %s', (change, text) => {
  expect(formatChange(change)).toBe(text)
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

test('microseconds are delays', () => {
  expect([formatMicroseconds(40), formatMicroseconds(1_500), formatMicroseconds(null)]).toEqual([
    '40.0 µs',
    '1.50 ms',
    '–',
  ])
})

test.each([
  [0, '0'],
  [250, '250 µs'],
  [20_000, '20 ms'],
])('the tick %d is written %s', (us, text) => {
  expect(formatTick(us)).toBe(text)
})

test.each([
  [0.934, '93 %'],
  [0.99, '99 %'],
  [0.9901, '> 99 %'],
  [1, '> 99 %'],
  [0.005, '1 %'],
  [0.004, '< 1 %'],
  [0, '< 1 %'],
  [null, '–'],
])('a probability of %s is never printed as certain: %s', (probability, text) => {
  expect(formatProbability(probability)).toBe(text)
})
