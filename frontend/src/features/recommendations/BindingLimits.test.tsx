import { expect, test } from 'vitest'
import type { Recommendation } from '~/api/types'
import { screen, showPage } from '~/testing/page'
import { BindingLimits } from './BindingLimits'

const part = (mean: number) => ({ mean, low: 0, high: 1, windows: 20 })
const binding = (mean: number, ...limits: [kind: string, limit: string, relax: string][]) => ({
  limits: limits.map(([kind, limit, relax]) => ({ kind, limit, relax })),
  application: { id: 'a', name: 'cache' },
  task: { id: 't', name: 'worker-1' },
  vm: { id: 'v', name: 'vm-3' },
  gain: { before: part(0.3), after: part(0.3 + mean), gain: part(mean), probability: 0.97, doubts: [] },
})
const show = (found: unknown) =>
  showPage(<BindingLimits recommendation={{ result: { binding: found } } as unknown as Recommendation} />)

test('each limit is shown with what would help, the task and the gain', async () => {
  await show([
    binding(0.214, ['slot', 'vm-3 has 1 slots, 0 of them free', 'add 1 slot to vm-3']),
    binding(0.05, ['pin', 'cache/worker-1 is pinned', 'unpin cache/worker-1'], ['zones', 'zone b', 'allow zone b']),
  ])
  const rows = screen.getAllByRole('row').map(({ textContent }) => textContent)
  expect(rows[1]).toContain('add 1 slot to vm-3')
  expect(rows[1]).toContain('vm-3 has 1 slots, 0 of them free')
  expect(rows[1]).toContain('cache/worker-1 to vm-3')
  expect(rows[1]).toMatch(/21/)
  expect(rows[2]).toContain('unpin cache/worker-1, and allow zone b')
})

test.each([[null], [[]]])('without binding limits nothing is shown', async (found) => {
  await show(found)
  expect(screen.queryByText('Limits that bind')).toBeNull()
})
