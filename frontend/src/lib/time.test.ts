import { expect, test } from 'vitest'
import { formatAge, formatMoment, formatMoments, formatWindow, zoneName } from './time'

const at = new Date('2026-11-20T23:10:20Z')

test('a window names its zone', () => {
  expect(formatWindow(at, new Date('2026-11-20T23:10:30Z'), 'utc')).toBe('23:10:20 – 23:10:30 UTC')
  expect(formatMoment(at, 'utc')).toBe('20 Nov 2026, 23:10:20 UTC')
})

test.each([
  ['2026-11-20T23:10:20Z', '2026-11-20T23:10:30Z', '23:10:20 – 23:10:30 UTC'],
  ['2026-11-19T23:10:20Z', '2026-11-19T23:10:30Z', '19 Nov 2026, 23:10:20 – 23:10:30 UTC'],
  ['2026-11-19T23:50:00Z', '2026-11-20T00:20:00Z', '19 Nov 2026, 23:50:00 – 20 Nov 2026, 00:20:00 UTC'],
])('a window of another day than now names it: %s', (from, to, text) => {
  expect(formatMoments(new Date(from), new Date(to), 'utc', at.getTime())).toBe(text)
})

test('the local zone is written as its offset', () => {
  const shifted = { getTimezoneOffset: () => -330 } as Date
  expect(zoneName('local', shifted)).toBe('UTC+5:30')
  expect(zoneName('utc', shifted)).toBe('UTC')
})

test.each([
  [-5_000, '0 s'],
  [8_900, '8 s'],
  [119_000, '119 s'],
  [125_000, '2 min'],
  [7_200_000, '2 h'],
  [5 * 86_400_000, '5 d'],
])('%d ms ago reads "%s"', (ms, text) => {
  expect(formatAge(ms)).toBe(text)
})
