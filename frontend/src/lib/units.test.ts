import { expect, test } from 'vitest'
import {
  commonDelayUnit,
  formatCount,
  formatDelay,
  formatExact,
  formatRatio,
  formatSignedDelay,
  lossRatio,
  threeDigits,
} from './units'

test.each([
  [0, '0 ns'],
  [1, '1.00 ns'],
  [999, '999 ns'],
  [999.6, '1.00 µs'],
  [1_000, '1.00 µs'],
  [84_213, '84.2 µs'],
  [120_000, '120 µs'],
  [999_499, '999 µs'],
  [999_999, '1.00 ms'],
  [1_390_000, '1.39 ms'],
  [14_360_000, '14.4 ms'],
  [1e9, '1.00 s'],
  [137.4e9, '137 s'],
  [-23_400, '−23.4 µs'],
  [null, '–'],
  [undefined, '–'],
  [Number.NaN, '–'],
])('a delay of %s ns reads "%s"', (ns, text) => {
  expect(formatDelay(ns)).toBe(text)
})

test('a missing value is never written as zero', () => {
  for (const format of [formatDelay, formatSignedDelay, formatExact, formatRatio, formatCount]) {
    expect(format(null)).not.toMatch(/0/)
    expect(format(0)).toMatch(/^0/)
  }
})

test.each([
  [12_300, '+12.3 µs'],
  [-12_300, '−12.3 µs'],
  [0, '0 ns'],
])('an asymmetry of %d ns reads "%s"', (ns, text) => {
  expect(formatSignedDelay(ns)).toBe(text)
})

test.each([
  [84_213, '84\u202f213 ns'],
  [1_000_000, '1\u202f000\u202f000 ns'],
  [-1_234, '−1\u202f234 ns'],
  [7, '7 ns'],
])('%d is exactly "%s"', (ns, text) => {
  expect(formatExact(ns)).toBe(text)
})

test.each([
  [0, '0 %'],
  [0.5, '50.0 %'],
  [1, '100 %'],
  [0.00031, '0.0310 %'],
  [0.0125, '1.25 %'],
])('a loss of %d reads "%s"', (ratio, text) => {
  expect(formatRatio(ratio)).toBe(text)
})

test('large counts are grouped', () => {
  expect(formatCount(3_600)).toBe('3\u202f600')
})

test.each([
  [80, 1, 0.0125],
  [80, 0, 0],
  [0, 0, null],
  [null, 1, null],
  [80, null, null],
])('of %s sent and %s lost, the ratio is %s', (sent, lost, ratio) => {
  expect(lossRatio({ sent, lost })).toBe(ratio)
})

test.each([
  [9.996, '10.0'],
  [99.96, '100'],
  [999.6, '1000'],
  [0.000_123_4, '0.000123'],
])('%d keeps three digits: %s', (value, text) => {
  expect(threeDigits(value)).toBe(text)
})

test('the ticks of one scale share the unit of the largest', () => {
  const { unit, divide } = commonDelayUnit(1_390_000)
  expect([unit, divide(500_000)]).toEqual(['ms', 0.5])
})
