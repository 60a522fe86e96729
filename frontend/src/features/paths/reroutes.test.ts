import { expect, test } from 'vitest'
import { rerouteMarks } from './reroutes'

const event = (id: number, kind: string, message: string) => ({
  ...{ id, kind, at: '2026-11-20T10:40:00Z', detail: { message } },
})

test('reroutes of a path are those whose words name its other end', () => {
  const events = [
    event(1, 'route_change', 'packets from 10.0.0.2 pass 2 routers more than before: another route'),
    event(2, 'route_change', 'packets from 10.0.0.21 pass 1 router fewer than before: another route'),
    event(3, 'clock_step', 'the clock of 10.0.0.2 stepped'),
  ]
  const from = Date.parse('2026-11-20T10:40:00Z') / 1_000
  expect(rerouteMarks(events, '10.0.0.2')).toEqual([
    { id: 'reroute-1', label: `Route changed: ${events[0]?.detail.message}`, from, to: null },
  ])
  expect(rerouteMarks(events, undefined)).toEqual([])
})
