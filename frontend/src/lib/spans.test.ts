import { expect, test } from 'vitest'
import { earlierRange, isMoving, rangeOf } from './spans'

const NOW = Date.parse('2026-11-20T12:00:00Z')

test.each([
  ['nothing', {}, '11:45', '12:00'],
  ['a span', { span: '1h' }, '11:00', '12:00'],
  ['a span up to a time', { span: '1h', until: '2026-11-20T08:00:00Z' }, '07:00', '08:00'],
  ['a start', { from: '2026-11-20T08:30:00Z' }, '08:30', '12:00'],
  ['a start and an end', { from: '2026-11-20T08:30:00Z', until: '2026-11-20T09:00:00Z' }, '08:30', '09:00'],
  ['a start goes before a span', { span: '1h', from: '2026-11-20T11:50:00Z' }, '11:50', '12:00'],
  ['a start after its end', { from: '2026-11-20T10:00:00Z', until: '2026-11-20T09:00:00Z' }, '08:45', '09:00'],
] as const)('%s is a range', (_, time, from, to) => {
  expect(rangeOf(time, '15m', NOW)).toEqual({ from: `2026-11-20T${from}:00.000Z`, to: `2026-11-20T${to}:00.000Z` })
})

test.each([
  [{}, true],
  [{ span: '6h' }, true],
  [{ span: '6h', versus: 'day' }, true],
  [{ span: '6h', until: '2026-11-20T08:00:00Z' }, false],
  [{ from: '2026-11-20T08:00:00Z' }, false],
] as const)('%j moves with the clock: %s', (time, moves) => {
  expect(isMoving(time)).toBe(moves)
})

test.each([
  ['before', '2026-11-20T07:30:00.000Z', '2026-11-20T08:00:00.000Z'],
  ['day', '2026-11-19T08:00:00.000Z', '2026-11-19T08:30:00.000Z'],
  ['week', '2026-11-13T08:00:00.000Z', '2026-11-13T08:30:00.000Z'],
] as const)('half an hour is compared with the %s', (versus, from, to) => {
  const range = { from: '2026-11-20T08:00:00.000Z', to: '2026-11-20T08:30:00.000Z' }
  expect(earlierRange(range, versus)).toEqual({ from, to })
})
