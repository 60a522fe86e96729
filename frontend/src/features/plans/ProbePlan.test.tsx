import { expect, test } from 'vitest'
import type { PlanAdoption, Strategy } from '~/api/types'
import { bodiesOf, fill, recorded, rowsOf, screen, userEvent, visit } from '~/testing/page'
import { ProbePlan } from './ProbePlan'
import { formatDetection } from './quantities'

const MESH = recorded('/v1/meshes/{mesh_id}', {
  ...{ id: 'm', name: 'demo', strategy: 'full', period_windows: 10, representatives: 2, revision: 4 },
})
const RECORDED = recorded('/v1/meshes/{mesh_id}/plan-previews', { vms: 1000, prices_checked_on: '2026-09-20' }, 'post')
const [FULL] = RECORDED.items

const preview = (strategy: Strategy, share: number) => ({
  ...{ ...FULL, strategy, period_s: 100, measured: strategy === 'zones' ? 0.25 : 1 },
  cost: {
    ...FULL?.cost,
    agent_packets_per_s_max: 15_984 * share,
    bytes_per_day: 81_480_038_400_000 * share,
    usd_per_day: strategy === 'zones' ? null : 1_215 * share,
  },
  detection: {
    ...FULL?.detection,
    path: { p90_windows: share < 1 ? 29 : 3, worst_windows: share < 1 ? 30 : 3, never: strategy === 'zones' ? 0.8 : 0 },
  },
  exceeds_agent_cap: strategy === 'full',
})

const PREVIEW = {
  ...RECORDED,
  items: [preview('full', 1), preview('zones', 0.2), preview('sparse', 0.1), preview('event', 0.1)],
  prices: [{ provider: 'aws', between_zones: 0.02, between_regions: 0.02, source: 'https://aws.example' }],
}

const adoption = (changes: object): PlanAdoption =>
  recorded('/v1/meshes/{mesh_id}/plan-followers', {
    ...{ revision: 4, agents: 3, live: 3, active_everywhere: false, active_since: null },
    ...{ first_waited_for: [], first_not_live: [], ...changes },
  })

const show = (answers: object = {}) =>
  visit(<ProbePlan mesh={MESH} etag="1" />, {
    'POST /v1/meshes/m/plan-previews': PREVIEW,
    'GET /v1/meshes/m/plan-followers': adoption({ following: 3 }),
    ...answers,
  })

test('the strategies are compared before one is chosen', async () => {
  await show()
  const [full, zones, sparse] = await rowsOf('Comparison of strategies')
  expect(full).toContain('15\u202f984/s')
  expect(full).toContain('above the limit')
  expect(full).toContain('74.1 TiB')
  expect(full).toContain('36450.00 USD')
  expect(zones).toContain('unknown')
  expect(zones).toContain('never for 80.0 %')
  expect(sparse).toContain('1\u202f598/s')
  expect(sparse).toContain('4.8 min, at worst 5 min')
  expect(screen.getByText(/List prices of 2026-09-20/)).toBeTruthy()
})

test('without a pair that can measure, nothing is compared', async () => {
  const items = PREVIEW.items.map((item) => ({ ...item, measured: 0, cost: { ...item.cost, bytes_per_day: 0 } }))
  await show({ 'POST /v1/meshes/m/plan-previews': { ...PREVIEW, items } })
  expect(await screen.findByText(/^Cost and time to detect a fault are compared here when two VMs/)).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Comparison of strategies' })).toBeNull()
})

test('a strategy is saved with its period, and the comparison follows the form', async () => {
  const { sent } = await show({ 'PATCH /v1/meshes/m': { ...MESH, strategy: 'sparse' } })
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: /^Strategy/ }), 'sparse')
  const period = screen.getByRole('spinbutton', { name: /^Period/ })
  await fill(period, '20')
  await userEvent.click(screen.getByRole('button', { name: 'Save plan' }))
  expect(bodiesOf(sent, 'PATCH /v1/meshes/m')).toEqual([{ strategy: 'sparse', period_windows: 20 }])
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/meshes/m/plan-previews').at(-1))
    .toMatchObject({ period_windows: 20, prices: null })
})

test('own prices replace the list', async () => {
  const { sent } = await show({ 'POST /v1/meshes/m/plan-previews': { ...PREVIEW, prices: [] } })
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Enter own prices' }))
  const price = screen.getByRole('spinbutton', { name: /^Between zones/ })
  await fill(price, '0.05')
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/meshes/m/plan-previews').at(-1))
    .toMatchObject({ prices: { between_zones: 0.05, between_regions: 0.02 } })
  expect(screen.getByText(/no entry for the provider/)).toBeTruthy()
})

const SINCE = '2026-11-20T10:42:07.250Z'

test.each([
  [
    { following: 3, active_everywhere: true, active_since: SINCE },
    'Revision 4: active everywhere since 20 Nov 2026, 10:42:07 UTC. All 3 live agents follow.',
  ],
  [{ following: 1, first_waited_for: ['b-1', 'c-1'] }, 'Revision 4: 1 of 3 live agents follow. Waiting for b-1, c-1.'],
  [
    { following: 2, active_everywhere: true, active_since: SINCE, live: 2, first_not_live: ['c-1'] },
    'Revision 4: active everywhere since 20 Nov 2026, 10:42:07 UTC. All 2 live agents follow. Not waited for, 1 not live: c-1.',
  ],
  [
    { following: 1, live: 2, first_waited_for: ['b-1'], first_not_live: ['c-1'] },
    'Revision 4: 1 of 2 live agents follow. Waiting for b-1. Not waited for, 1 not live: c-1.',
  ],
  [
    { following: 0, live: 0, first_not_live: ['a-1', 'b-1', 'c-1'] },
    'Revision 4: no agent is live. Not waited for, 3 not live: a-1, b-1, c-1.',
  ],
])('the live agents that follow the plan, and those waited for (%#)', async (changes, text) => {
  await show({ 'GET /v1/meshes/m/plan-followers': adoption(changes) })
  expect(await screen.findByText(text)).toBeTruthy()
  expect(screen.getByText(/joins or restarts gets all of revision 4/)).toBeTruthy()
})

test('a fault that nothing measures is never detected', () => {
  expect(formatDetection({ p90_windows: null, worst_windows: null, never: 1 }, 10)).toBe('never for 100 %')
  expect(formatDetection({ p90_windows: null, worst_windows: null, never: 0 }, 10)).toBe('–')
})
