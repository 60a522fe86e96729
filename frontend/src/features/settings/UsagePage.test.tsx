import { expect, test } from 'vitest'
import { mockApi, screen, showPage, within } from '~/testing/page'
import { UsagePage } from './UsagePage'

const VMS = { resource: 'vms', used: 19, limit: 20, set_by: 'plan' }
const DAYS = { resource: 'raw_days', used: null, limit: 3, set_by: 'installation' }

test('the plan, what is nearly used up and whom to ask are shown', async () => {
  mockApi({
    'GET /v1/usage': () => Response.json({ plan: 'Trial', contact: 'noc@example.com', items: [VMS, DAYS] }),
    'GET /v1/pins': [],
    'GET /v1/aged-measurements': () => Response.json({ after_days: 0, items: [], run: null }),
  })
  await showPage(<UsagePage />)
  expect(await screen.findByText('Plan: Trial')).toBeTruthy()
  expect(screen.getByText('Nearly used up: VMs')).toBeTruthy()
  expect(screen.getByText(/ask the operator \(noc@example.com\) for more/)).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^VMs/ })).getByText('Plan')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^Retention of windows/ })).getByText('Installation')).toBeTruthy()
})

test('without a plan the quotas of the installation hold, and nothing warns', async () => {
  mockApi({
    'GET /v1/usage': () => Response.json({ plan: null, contact: null, items: [{ ...VMS, used: 2 }] }),
    'GET /v1/pins': [],
    'GET /v1/aged-measurements': () => Response.json({ after_days: 0, items: [], run: null }),
  })
  await showPage(<UsagePage />)
  expect(await screen.findByText('No plan: the quotas of this installation hold.')).toBeTruthy()
  expect(screen.queryByText(/Nearly used up/)).toBeNull()
})

const MINUTES = {
  mesh_id: '8a4e6f0e-7f0e-4d5e-9b8e-6f0e7f0e4d5e',
  mesh: 'Trading',
  tier: 'probe_frames_1m',
  objects: 12,
  restored: 1,
  rows: 17_280,
  bytes: 25_300_000,
  started_at: '2026-09-01T00:00:00Z',
  ended_at: '2026-09-13T00:00:00Z',
}
const RUN = {
  started_at: '2026-11-26T10:45:00Z',
  ended_at: '2026-11-26T10:46:00Z',
  objects: 4,
  rows: 100,
  bytes: 2_000_000,
  error: null,
}

function showAged(after_days: number, items: object[], run: object | null) {
  mockApi({
    'GET /v1/usage': () => Response.json({ plan: null, contact: null, items: [VMS] }),
    'GET /v1/pins': [],
    'GET /v1/aged-measurements': () => Response.json({ after_days, items, run }),
  })
  return showPage(<UsagePage />)
}

test('what is in object storage is listed with the newest run', async () => {
  await showAged(14, [MINUTES], RUN)
  const row = within(await screen.findByRole('row', { name: /^Trading/ }))
  for (const cell of ['Minutes of VMs', '12', '1', /17.280/, '25.3']) expect(row.getByText(cell)).toBeTruthy()
  expect(screen.getByText(/older than 14 days/)).toBeTruthy()
  expect(screen.getByText(/4 objects written, 2.0 MB/)).toBeTruthy()
})

test('a run that failed says why', async () => {
  await showAged(14, [], { ...RUN, error: 'cannot put x in bucket y' })
  expect(await screen.findByText(/^Newest run failed/)).toBeTruthy()
  expect(screen.getByText('cannot put x in bucket y')).toBeTruthy()
  expect(screen.getByText(/^No measurements in object storage yet/)).toBeTruthy()
})

test('nothing is shown where ageing is off and nothing is in storage', async () => {
  await showAged(0, [], null)
  expect(await screen.findByText('Pinned ranges')).toBeTruthy()
  expect(screen.queryByText('Object storage')).toBeNull()
})
