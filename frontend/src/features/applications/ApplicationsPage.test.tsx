import { expect, test } from 'vitest'
import { mockApi, screen, showPage } from '~/testing/page'
import { ApplicationsPage } from './ApplicationsPage'

test('performance and the last day of all applications are one request', async () => {
  const mesh = { id: 'm', name: 'production' }
  const curve = { id: 'c', name: 'memcached' }
  const application = (id: string) => ({ id, name: id, mesh, curve, tasks: [{}, {}], objective: 0.9 })
  const day = { points_at: ['2026-11-20T10:00:00Z', '2026-11-20T10:15:00Z'], performance: [0.98, 0.3], usual: 0.98 }
  const ranked = { id: 'cache', name: 'cache', performance: 0.3, objective: 0.9, below_objective: true, day }
  const sent = mockApi({
    'GET /v1/applications': [application('cache'), application('new')],
    'GET /v1/overview/applications': { total: 2, evaluated: 1, worst: [ranked] },
  })
  await showPage(<ApplicationsPage />)
  expect(await screen.findByRole('img', { name: 'cache: last 24 hours, usually 98.0 %' })).toBeTruthy()
  expect(screen.getByText('30.0 %')).toBeTruthy()
  expect(screen.getByText('The first 1 of 2 applications are compared.')).toBeTruthy()
  expect(sent.filter(({ to }) => /applications/.test(to)).map(({ to }) => to)).toEqual([
    'GET /v1/applications',
    'GET /v1/overview/applications',
  ])
})
