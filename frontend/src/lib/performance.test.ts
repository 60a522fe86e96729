import { expect, test } from 'vitest'
import {
  formatChange,
  formatChanges,
  formatMicroseconds,
  formatProbability,
  formatShare,
  formatShares,
  formatTick,
} from './performance'

test.each([
  [0.79681, '79.7 %'],
  [1, '100.0 %'],
  [null, '–'],
  [Number.NaN, '–'],
])('the share %s is written %s', (share, text) => {
  expect(formatShare(share)).toBe(text)
})

test.each([
  [-0.1234, '−12.3 %'],
  [0.05, '+5.0 %'],
  [-0.0001, '±0 %'],
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
  expect(formatChanges(-0.0001, 0.1199)).toEqual(['−0.1 %', '+12.0 %'])
  expect(formatChanges(-0.12001, -0.0001)).toEqual(['−12.1 %', '±0 %'])
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
