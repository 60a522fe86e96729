import { expect, test } from 'vitest'
import { rangeOf, secondsOf, type TimeSearch } from '~/lib/spans'
import { follow, pause, shift, zoomOut } from './steps'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const PATH = { span: '15m' } as const
const HEATMAP = { span: '5m', isLive: true } as const
const fixed = (from: string, until: string): TimeSearch => ({
  from: `2026-11-20T${from}:00.000Z`,
  until: `2026-11-20T${until}:00.000Z`,
})

test.each([
  [{}, -1, fixed('11:30', '11:45')],
  [{ span: '1h' }, -1, fixed('10:00', '11:00')],
  [fixed('10:00', '10:30'), -1, fixed('09:30', '10:00')],
  [fixed('10:00', '10:30'), 1, fixed('10:30', '11:00')],
  [{ ...fixed('10:00', '10:30'), versus: 'day' }, 1, { ...fixed('10:30', '11:00'), versus: 'day' }],
  // It would end now or later: the newest range.
  [fixed('11:00', '11:45'), 1, { span: '1h' }],
  [{ span: '1h', until: '2026-11-20T11:30:00.000Z' }, 1, { span: '1h' }],
] as const)('%j, step %d: %j', (time, direction, next) => {
  expect(shift(time, PATH, direction, NOW)).toEqual(next)
})

test.each([
  [fixed('09:00', '10:00'), fixed('08:30', '10:30')],
  [{ span: '1h' }, fixed('10:00', '12:00')],
  [fixed('11:00', '11:50'), fixed('10:20', '12:00')],
] as const)('%j zoomed out is %j', (time, wider) => {
  expect(zoomOut(time, PATH, NOW)).toEqual(wider)
})

test('a pause keeps the range, following resumes it', () => {
  for (const time of [{}, { span: '6h' }, { span: '6h', versus: 'week' }] as const) {
    const paused = pause(time, PATH, NOW)
    expect(rangeOf(paused, '15m', NOW + 60_000)).toEqual(rangeOf(time, '15m', NOW))
    const resumed = rangeOf(follow(paused, PATH, NOW + 60_000), '15m', NOW + 60_000)
    expect([secondsOf(resumed), resumed.to]).toEqual([secondsOf(rangeOf(time, '15m', NOW)), '2026-11-20T12:01:00.000Z'])
  }
})

test('a live page that was paused shows the newest windows again', () => {
  expect(follow(pause({}, HEATMAP, NOW), HEATMAP, NOW)).toEqual({})
  expect(follow(pause({ span: '1h' }, HEATMAP, NOW), HEATMAP, NOW)).toEqual({ span: '1h' })
})
