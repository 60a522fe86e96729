import { expect, test } from 'vitest'
import { eventAround, HOUR_MS, rangeOf, slotsOf } from './days'

const SINCE = Date.parse('2026-11-20T00:00:00Z')
const at = (hour: number) => new Date(SINCE + hour * HOUR_MS).toISOString()
const none = { source: null, target: null, usual_ns: null, change_ns: null, loss: null }
const pair = { ...none, source: 'a', target: 'b' }
const hours = [
  { ...none, started_at: at(0) },
  { ...pair, usual_ns: 160_000, change_ns: 350_000, started_at: at(2) },
  { ...pair, loss: 0.12, started_at: at(3) },
  { ...none, started_at: at(4) },
]
const slots = slotsOf({ since: at(0), hours }, 'utc', SINCE + 4.5 * HOUR_MS)

test('each hour has its worst change in words; an hour without measurements is not usual', () => {
  expect(slots.map(({ tone }) => tone)).toEqual(['usual', null, 'rise', 'loss', 'usual'])
  expect(slots.map(({ words }) => words.split('UTC: ')[1])).toEqual([
    'every zone pair as usual',
    'nothing measured',
    'a → b +350 µs (usually 160 µs)',
    'a → b lost 12.0 %',
    'every zone pair as usual',
  ])
  expect(slots.map(({ height }) => height > 0)).toEqual([false, false, true, true, false])
})

test('a chosen hour takes its changed neighbours with it, a usual one stays alone', () => {
  const span = (index: number) => eventAround(slots, index).map((time) => (time - SINCE) / HOUR_MS)
  expect([span(2), span(3), span(4)]).toEqual([
    [2, 4],
    [2, 4],
    [4, 5],
  ])
  expect(rangeOf(slots, 3, 1)).toEqual([SINCE + HOUR_MS, SINCE + 4 * HOUR_MS])
})
