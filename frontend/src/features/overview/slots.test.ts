import { expect, test } from 'vitest'
import type { RecentIncident } from '~/api/overview'
import { meshHealth, NOW } from '~/testing/overview'
import { slotsOf } from './slots'

const incident = (onset: string, ended: string | null, severity: RecentIncident['severity'] = 'warning') => ({
  id: onset,
  severity,
  title: 't',
  onset_at: `2026-11-23T${onset}:00Z`,
  ended_at: ended && `2026-11-23T${ended}:00Z`,
})

/** The slots of 11 hours to 10:00 (its last hour has begun) as letters: w and c for severities, . quiet, ? unknown. */
function letters(recent: RecentIncident[], since: string | null = '2026-11-20T00:00:00Z'): string {
  const mesh = meshHealth({ recent_incidents: recent, evaluated_since: since })
  return slotsOf(mesh, NOW)
    .map(({ severity, isKnown }) => severity?.[0] ?? (isKnown ? '.' : '?'))
    .join('')
}

const quiet = (count: number) => '.'.repeat(count)

test('a day has 24 slots, and the last one contains now', () => {
  const slots = slotsOf(meshHealth(), NOW)
  expect(slots).toHaveLength(24)
  expect(new Date(slots[0]?.from ?? 0).toISOString()).toBe('2026-11-22T11:00:00.000Z')
  expect(new Date(slots[23]?.from ?? 0).toISOString()).toBe('2026-11-23T10:00:00.000Z')
})

test.each([
  ['an ongoing incident reaches to now', [incident('08:30', null)], `${quiet(21)}www`],
  ['an incident within an hour is in one slot', [incident('08:10', '08:20')], `${quiet(21)}w${quiet(2)}`],
  ['an incident over the full hour is in two', [incident('07:59', '08:01')], `${quiet(20)}ww${quiet(2)}`],
  [
    'the worst severity of a slot counts',
    [incident('08:10', '08:20'), incident('08:15', '09:30', 'critical')],
    `${quiet(21)}cc.`,
  ],
])('%s', (_, recent, expected) => {
  expect(letters(recent)).toBe(expected)
})

test('an hour without evaluation is not quiet, and an incident shows through', () => {
  expect(letters([], '2026-11-23T08:30:00Z')).toBe(`${'?'.repeat(21)}...`)
  expect(letters([], null)).toBe('?'.repeat(24))
  expect(letters([incident('05:00', '05:10')], '2026-11-23T08:30:00Z')).toBe(`${'?'.repeat(18)}w??...`)
})
