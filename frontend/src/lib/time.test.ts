import { expect, test, vi } from 'vitest'
import { formatAge, formatMoment, formatMoments, formatRange, formatShortMoment, tickNames, zoneName } from './time'

const at = new Date('2026-11-20T23:10:20Z')

test('a moment and a range name day and zone', () => {
  const to = new Date('2026-11-20T23:10:30Z')
  expect(formatRange(at, to, 'utc')).toBe('20 Nov 2026, 23:10:20 – 23:10:30 UTC')
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

test.each([
  ['2026-11-20T22:00:00Z', '22:00 UTC'],
  ['2026-11-21T22:00:00Z', '22:00 UTC'],
  ['2026-11-19T22:00:00Z', '19 Nov 2026, 22:00 UTC'],
  ['2026-11-27T22:00:00Z', '27 Nov 2026, 22:00 UTC'],
])('a time more than a day away, before or after, has its day: %s', (moment, text) => {
  expect(formatShortMoment(moment, 'utc', at.getTime())).toBe(text)
})

const hours = (from: string, count: number, step_h: number) =>
  Array.from({ length: count }, (_, n) => new Date(Date.parse(from) + n * step_h * 3_600_000))

test.each([
  ['2026-11-20T12:00:00Z', 3, 3, ['12:00', '15:00', '18:00']],
  ['2026-11-19T18:00:00Z', 3, 6, ['19 Nov, 18:00', '20 Nov, 00:00', '06:00']],
  ['2026-11-18T00:00:00Z', 2, 24, ['18 Nov 2026', '19 Nov 2026']],
])('ticks from %s name each day once', (from, count, step_h, names) => {
  expect(tickNames(hours(from, count, step_h), step_h * 3_600_000, 'utc', at.getTime())).toEqual(names)
})

test('a range across a change of the clocks has the offset of both ends', () => {
  vi.stubEnv('TZ', 'America/St_Johns')
  const [from, to] = [new Date('2026-10-31T10:00:00Z'), new Date('2026-11-02T11:00:00Z')]
  expect(formatRange(from, to, 'local')).toBe('31 Oct 2026, 07:30:00 UTC−2:30 – 2 Nov 2026, 07:30:00 UTC−3:30')
  const hour = [new Date('2026-11-01T04:00:00Z'), new Date('2026-11-01T05:00:00Z')] as const
  expect(formatMoments(...hour, 'local', hour[0].getTime())).toBe('01:30:00 UTC−2:30 – 01:30:00 UTC−3:30')
})
