import { expect, test } from 'vitest'
import { bitRateTicks, formatBitRate, formatDecimalBytes, formatWait } from './traffic'

test.each([
  [null, '–'],
  [0, '0 bit/s'],
  [999.6, '1.00 kbit/s'],
  [12_500_000, '12.5 Mbit/s'],
  [999_999, '1.00 Mbit/s'],
  [25e9, '25.0 Gbit/s'],
])('%s bit/s read %s', (rate, text) => expect(formatBitRate(rate)).toBe(text))

test.each([
  [0, '0 B'],
  [98_500, '98.5 kB'],
  [4.2e12, '4.20 TB'],
])('%d bytes read %s', (bytes, text) => expect(formatDecimalBytes(bytes)).toBe(text))

test('ticks share the unit of the largest', () => {
  expect(bitRateTicks([0, 5e5, 1e6])).toEqual(['0 Mbit/s', '0.5 Mbit/s', '1 Mbit/s'])
  expect(bitRateTicks([])).toEqual([])
})

test.each([
  [0.8, '0.800 s'],
  [4, '4.00 s'],
  [40.4, '40 s'],
  [750, '13 min'],
  [8_000, '2.2 h'],
  [400_000, '5 days'],
])('%d s read %s', (s, text) => expect(formatWait(s)).toBe(text))
