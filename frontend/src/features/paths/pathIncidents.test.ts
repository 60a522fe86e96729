import { expect, test } from 'vitest'
import { incidentSpans } from './pathIncidents'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString()

test('an incident is shaded from its onset to its end, or to now while it goes on', () => {
  const ended = { onset_at: at(0), ended_at: at(5), severity: 'critical' as const }
  const open = { onset_at: at(7), ended_at: null, severity: 'warning' as const }
  const start = Date.UTC(2026, 10, 20, 10) / 1_000
  expect(incidentSpans([ended, open], (start + 600) * 1_000)).toEqual([
    { label: 'Incident', from: start, to: start + 300, colour: 'var(--bad)' },
    { label: 'Incident', from: start + 420, to: start + 600, colour: 'var(--warn)' },
  ])
})
