import { expect, test } from 'vitest'
import { endOf, indexOf, shareOf, stepEnd, stepRange, trackOf } from './film'

const at = (time: string) => Date.parse(`2026-11-20T${time}Z`)
const iso = (time: number) => new Date(time).toISOString().slice(11, 19)

test.each([
  ['1h', '12:10:40', '11:11:00', '12:10:00', 60],
  ['1h', '12:10:20', '11:10:00', '12:09:00', 60], // the windows of 12:10 may still arrive
  ['6h', '12:14:00', '06:15:00', '12:10:00', 72],
  ['24h', '12:14:00', '12:15:00', '12:00:00', 96],
] as const)('a film of %s at %s goes from %s to %s', (film, now, first, last, steps) => {
  const track = trackOf(film, at(now), null)
  expect([iso(track.first), iso(track.last), track.steps]).toEqual([first, last, steps])
  expect(endOf(track, 0)).toBe(track.first)
  expect(endOf(track, steps - 1)).toBe(track.last)
})

test('an older step is in the middle of its film', () => {
  const track = trackOf('1h', at('12:10:40'), at('03:00:00'))
  expect([iso(track.first), iso(track.last)]).toEqual(['02:31:00', '03:30:00'])
  expect(endOf(track, indexOf(track, at('03:00:00')))).toBe(at('03:00:00'))
})

test('a moment belongs to the step that ends at or after it', () => {
  expect(iso(stepEnd(at('10:41:00'), 60_000))).toBe('10:41:00')
  expect(iso(stepEnd(at('10:41:01'), 60_000))).toBe('10:42:00')
  expect(stepRange('6h', at('10:41:01'))).toEqual({
    from: '2026-11-20T10:40:00.000Z',
    until: '2026-11-20T10:45:00.000Z',
  })
})

test('the middle of the first step is the start of the track, that of the last one its end', () => {
  const track = trackOf('1h', at('12:10:40'), null)
  expect(shareOf(track, track.first - 30_000)).toBe(0)
  expect(shareOf(track, track.last - 30_000)).toBe(1)
  expect(shareOf(track, (track.first + track.last) / 2 - 30_000)).toBeCloseTo(0.5)
  expect(shareOf(track, 0)).toBe(0)
})
