import { expect, test, vi } from 'vitest'
import type { Annotation } from '~/api/annotations'
import { draftOf, endsTooEarly } from './draft'

test('an annotation through the hour that a clock change repeats ends after its start', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  // 02:30 in summer time until 02:15 in winter time, 45 minutes later.
  const stored = { starts_at: '2026-10-25T00:30:00Z', ends_at: '2026-10-25T01:15:00Z' } as Annotation
  const draft = draftOf(stored, 'local')
  expect([draft.starts, draft.ends]).toEqual(['2026-10-25T02:30:00', '2026-10-25T02:15:00'])
  expect(endsTooEarly(draft, 'local', stored)).toBe(false)
  expect(endsTooEarly({ ...draft, ends: draft.starts }, 'local', stored)).toBe(true)
  expect(endsTooEarly({ ...draft, ends: '' }, 'local', stored)).toBe(false)
  expect(endsTooEarly({ ...draft, ends: '2026-10-25T02:29:59' }, 'utc')).toBe(true)
})
