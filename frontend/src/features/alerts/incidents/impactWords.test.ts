import { expect, test } from 'vitest'
import { linkTime, timeAround, valuesOf } from './impactWords'

test('the chart shows half the length of an incident around it, at least ten minutes and at most six hours', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  const minutes = (onset_at: string, ended_at: string | null) => {
    const { from, to } = timeAround({ onset_at, ended_at }, now)
    return [(Date.parse(onset_at) - from) / 60_000, (to - (ended_at ? Date.parse(ended_at) : now)) / 60_000]
  }
  expect(minutes('2026-11-23T11:58:00Z', null)).toEqual([10, 0])
  expect(minutes('2026-11-23T09:00:00Z', '2026-11-23T10:00:00Z')).toEqual([30, 30])
  expect(minutes('2026-11-20T10:00:00Z', '2026-11-22T10:00:00Z')).toEqual([360, 360])
  expect(minutes('2026-11-23T10:58:00Z', '2026-11-23T11:58:00Z')).toEqual([30, 2])
})

test('an asymmetry is drawn as its size, a jitter not at all, and loss as all where nothing came back', () => {
  const series = {
    outbound: { delay_ns: [100, 50, null], clock_error_ns: [], loss: [0, null, null] },
    inbound: { delay_ns: [60, 80, 10], clock_error_ns: [], loss: [] },
    round_trip: { delay_ns: [], loss: [0, 1, null] },
  }
  expect(valuesOf(series as never, 'loss')).toEqual([0, 1, null])
  expect(valuesOf(series as never, 'asymmetry')).toEqual([40, 30, null])
  expect(valuesOf(series as never, 'jitter')).toBeNull()
})

test('links lead to the time around an incident', () => {
  const onset_at = '2026-11-23T10:00:00Z'
  expect(linkTime({ onset_at, ended_at: null })).toMatchObject({ from: '2026-11-23T09:50:00.000Z', until: undefined })
  expect(linkTime({ onset_at, ended_at: '2026-11-23T11:00:00Z' })).toMatchObject({
    from: '2026-11-23T09:30:00.000Z',
    until: '2026-11-23T11:30:00.000Z',
  })
})
