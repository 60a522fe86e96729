import { expect, test } from 'vitest'
import { formatBytes } from './bytes'
import { formatChange, formatMicroseconds, formatProbability, formatShare, formatTick, lookBack } from './performance'
import { formatBitRate, formatDecimalBytes, formatWait } from './traffic'
import { formatCount, formatDelay, formatExact, formatRatio, formatSignedDelay, threeDigits } from './units'

type Value = number | null | undefined

/** A format, a value, and how it is written. */
const WRITTEN: [format: (value: never) => string, value: Value, text: string][] = [
  [formatDelay, 0, '0 ns'],
  [formatDelay, 1, '1.00 ns'],
  [formatDelay, 999, '999 ns'],
  [formatDelay, 999.6, '1.00 µs'],
  [formatDelay, 84_213, '84.2 µs'],
  [formatDelay, 120_000, '120 µs'],
  [formatDelay, 999_499, '999 µs'],
  [formatDelay, 999_999, '1.00 ms'],
  [formatDelay, 14_360_000, '14.4 ms'],
  [formatDelay, 137.4e9, '137 s'],
  [formatDelay, -23_400, '−23.4 µs'],
  [formatDelay, undefined, '–'],
  [formatDelay, Number.NaN, '–'],
  [formatSignedDelay, 12_300, '+12.3 µs'],
  [formatSignedDelay, -12_300, '−12.3 µs'],
  [formatExact, 84_213, '84\u202f213 ns'],
  [formatExact, 1_000_000, '1\u202f000\u202f000 ns'],
  [formatExact, -1_234, '−1\u202f234 ns'],
  [formatRatio, 0.5, '50.0 %'],
  [formatRatio, 1, '100 %'],
  [formatRatio, 0.00031, '0.0310 %'],
  [formatCount, 3_600, '3\u202f600'],
  [threeDigits, 9.996, '10.0'],
  [threeDigits, 99.96, '100'],
  [threeDigits, 999.6, '1000'],
  [threeDigits, 0.000_123_4, '0.000123'],
  [formatShare, 0.79681, '79.7 %'],
  [formatShare, 1, '100.0 %'],
  [formatShare, Number.NaN, '–'],
  [formatChange, -0.1234, '−12.3 points'],
  [formatChange, 0.05, '+5.0 points'],
  [formatChange, -0.0001, '±0 points'],
  // A probability is never written as certain.
  [formatProbability, 0.934, '93 %'],
  [formatProbability, 0.99, '99 %'],
  [formatProbability, 0.9901, '> 99 %'],
  [formatProbability, 0.005, '1 %'],
  [formatProbability, 0.004, '< 1 %'],
  [lookBack, 30, 'the last 30 min'],
  [lookBack, 60, 'the last hour'],
  [lookBack, 90, 'the last 90 min'],
  [lookBack, 1_440, 'the last 24 h'],
  [formatMicroseconds, 1_500, '1.50 ms'],
  [formatTick, 0, '0'],
  [formatTick, 250, '250 µs'],
  [formatTick, 20_000, '20 ms'],
  [formatBitRate, 0, '0 bit/s'],
  [formatBitRate, 999.6, '1.00 kbit/s'],
  [formatBitRate, 12_500_000, '12.5 Mbit/s'],
  [formatBitRate, 25e9, '25.0 Gbit/s'],
  [formatDecimalBytes, 98_500, '98.5 kB'],
  [formatDecimalBytes, 4.2e12, '4.20 TB'],
  [formatBytes, 1000, '1000 B'],
  [formatBytes, 8_148_003_839_995, '7.41 TiB'],
  [formatWait, 0.8, '0.800 s'],
  [formatWait, 40.4, '40 s'],
  [formatWait, 750, '13 min'],
  [formatWait, 8_000, '2.2 h'],
  [formatWait, 400_000, '5 days'],
]

test.each(WRITTEN)('%o of %d is written %s', (format, value, text) => {
  expect(format(value as never)).toBe(text)
})

const OPTIONAL = [formatDelay, formatSignedDelay, formatExact, formatRatio, formatCount, formatBitRate]

test.each([...OPTIONAL, formatShare, formatChange, formatProbability, formatMicroseconds])(
  '%o writes a missing value as a dash, never as zero',
  (format) => expect(format(null)).toBe('–'),
)

test.each(OPTIONAL)('%o writes zero as zero', (format) => expect(format(0)).toMatch(/^0/))
