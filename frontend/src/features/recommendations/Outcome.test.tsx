import { expect, test } from 'vitest'
import type { Outcome, Recommendation } from '~/api/types'
import { recorded, screen, showPage, visit, within } from '~/testing/page'
import { MeasuredResult } from './Outcome'
import { RecommendationsPage } from './RecommendationsPage'

const REASON = 'A gain was observed, and it agrees with the promised one.'
const CACHE: Outcome['applications'][number] = {
  application: { id: 'c', name: 'cache' },
  verdict: 'held',
  reason: REASON,
  judged_by: 'metric',
  promised: { mean: 0.3, low: 0.2, high: 0.4 },
  observed: { mean: 0.25, low: 0.15, high: 0.35 },
  metric_sources: [{ id: 's', name: 'requests' }],
  controls: [{ id: 'o', name: 'shop' }],
}
const HELD: Outcome = {
  ...CACHE,
  window: { from: '2026-11-23T10:00:00Z', to: '2026-11-23T11:00:00Z' },
  applications: [CACHE],
}
const show = (outcome: Outcome | null, more: Partial<Recommendation> = {}) =>
  showPage(<MeasuredResult recommendation={{ state: 'verified', outcome, ...more } as Recommendation} />)

test('a verdict is shown with promise, observation and its judge', async () => {
  await show(HELD)
  expect(screen.getByText('The promise held')).toBeTruthy()
  const row = within(screen.getByRole('table')).getAllByRole('row')[1] as HTMLElement
  expect(row.textContent).toContain('+30.0 points +20.0 to +40.0 points')
  expect(row.textContent).toContain('+25.0 points +15.0 to +35.0 points')
  expect(within(row).getByText('Metric requests, control group: shop')).toBeTruthy()
})

test('an undecided result gives its reason and lists the other applications', async () => {
  const reason = 'Too few windows: 2 blocks of 10 minutes were measured after the moves, 5 are needed.'
  const other = { ...CACHE, application: { id: 'd', name: 'db' }, verdict: 'cannot_tell' as const, reason }
  await show({
    ...HELD,
    verdict: 'cannot_tell',
    reason,
    judged_by: 'both',
    observed: null,
    applications: [CACHE, { ...other, judged_by: 'delays', observed: null, metric_sources: [], controls: [] }],
  })
  expect(screen.getByText('The measurements do not show whether the promise held')).toBeTruthy()
  const rows = within(screen.getByRole('table')).getAllByRole('row').slice(1)
  expect(rows.map((row) => within(row).getByRole('rowheader').textContent)).toEqual(['All 2', 'cache', 'db'])
  expect(rows[2]?.textContent).toContain(reason)
  expect(rows[2]?.textContent).toContain('Delays through its curve')
})

test('what was undone has no result but the reason', async () => {
  await show(null, { state: 'undone', reason: 'cache/cache-1 left c-1 before the outcome was measured.' })
  expect(screen.getByText('Undone before the result was measured')).toBeTruthy()
  expect(screen.getByText(/left c-1/)).toBeTruthy()
})

test('the accuracy leaves out undecided and undone results', async () => {
  await visit(<RecommendationsPage />, {
    'GET /v1/meshes': [],
    'GET /v1/recommendations': [],
    'GET /v1/recommendations/accuracy': recorded('/v1/recommendations/accuracy', {
      ...{ held: 3, not_held: 1, cannot_tell: 2, undone: 5, entries: [] },
    }),
  })
  const words = await screen.findByText(/^Of 4 applied and judged recommendations, 3 held \(75.0 %\)/)
  expect(words.textContent).toContain('Not counted: 2 undecided, 5 undone.')
})
