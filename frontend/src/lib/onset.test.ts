import { expect, test } from 'vitest'
import { changeWords, sinceWords } from './onset'

const NOW = Date.parse('2026-11-23T10:55:00Z')
const at = (onset_at: string, is_onset_known = true) => sinceWords({ onset_at, is_onset_known }, 'utc', NOW)

test.each([
  ['2026-11-23T10:42:00Z', true, 'since 10:42 UTC'],
  ['2026-11-22T10:54:00Z', false, 'for more than 24 h'],
  ['2026-11-23T08:50:00Z', false, 'for more than 2 h'],
])('%s (known: %s) is "%s"', (onset, isKnown, words) => {
  expect(at(onset, isKnown)).toBe(words)
})

test('a change names both ends and since when', () => {
  expect(changeWords(60_000, 412_000, 'since 10:42 UTC')).toBe('risen from 60.0 µs to 412 µs since 10:42 UTC')
  expect(changeWords(412_000, 60_000, 'since 10:42 UTC')).toBe('fallen from 412 µs to 60.0 µs since 10:42 UTC')
  expect(changeWords(null, 60_000, 'since 10:42 UTC')).toBe('since 10:42 UTC')
})
