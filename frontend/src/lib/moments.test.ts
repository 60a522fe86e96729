import { expect, test, vi } from 'vitest'
import { fieldOf, momentOf, parseMoment, typedMoment } from './moments'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const utc = (text: string) => parseMoment(text, 'utc', NOW)

test.each([
  ['2026-11-20 08:30', '2026-11-20T08:30:00.000Z'],
  ['2026-11-20 08:30:15', '2026-11-20T08:30:15.000Z'],
  ['2026-11-20T8:30', '2026-11-20T08:30:00.000Z'],
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T09:30:00+01:00', '2026-11-20T08:30:00.000Z'],
  ['2026-11-20T08:30:00Z', '2026-11-20T08:30:00.000Z'],
  [' now ', '2026-11-20T12:00:00.000Z'],
  ['now-90m', '2026-11-20T10:30:00.000Z'],
  ['now - 2 d', '2026-11-18T12:00:00.000Z'],
])('"%s" is a time', (text, at) => {
  expect(new Date(utc(text) ?? Number.NaN).toISOString()).toBe(at)
})

test.each(['', 'soon', '10:30', '2026-13-01 10:00', '2026-02-30', '2026-11-20 25:00', 'now+1h', '20.11.2026', '0'])(
  '"%s" is not a time',
  (text) => {
    expect(utc(text)).toBeUndefined()
  },
)

test.each(['utc', 'local'] as const)('a time is typed as it is read, in %s', (clock) => {
  const at = Date.parse('2026-07-01T22:59:58Z')
  expect(parseMoment(typedMoment(at, clock), clock)).toBe(at)
})

test.each([
  ['utc', '2026-11-20T08:30:05'],
  ['local', '2026-11-20T14:15:05'],
] as const)('a field of the browser takes a time in the zone of displayed times: %s', (clock, field) => {
  vi.stubEnv('TZ', 'Asia/Kathmandu')
  expect(fieldOf('2026-11-20T08:30:05Z', clock)).toBe(field)
  expect(momentOf(field, clock)).toBe('2026-11-20T08:30:05.000Z')
})

test('an empty field is no time', () => {
  expect(fieldOf(null, 'utc')).toBe('')
  expect(momentOf('', 'utc')).toBeUndefined()
})

test('a time of the hour that a clock repeats is typed with its offset, and read back as it was', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  const typed = ['2026-10-25T00:10:00Z', '2026-10-25T01:10:00Z', '2026-10-25T02:10:00Z'].map((at) => {
    const text = typedMoment(Date.parse(at), 'local')
    expect(parseMoment(text, 'local')).toBe(Date.parse(at))
    expect(momentOf(fieldOf(at, 'local'), 'local', at)).toBe(at)
    return text
  })
  expect(typed).toEqual(['2026-10-25 02:10:00', '2026-10-25T02:10:00+01:00', '2026-10-25 03:10:00'])
})
