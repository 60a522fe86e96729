import { expect, test } from 'vitest'
import { mockApi, recorded, screen, showPage, within } from '~/testing/page'
import { UsagePage } from './UsagePage'

const VMS = { resource: 'vms', used: 19, limit: 20, set_by: 'plan' }
const DAYS = { resource: 'raw_days', used: null, limit: 3, set_by: 'installation' }

const AGED = recorded('/v1/aged-measurements')
const MINUTES = {
  ...{ ...AGED.items[0], mesh: 'Trading', tier: 'probe_frames_1m' },
  ...{ objects: 12, restored: 1, rows: 17_280, bytes: 25_300_000 },
}
const RUN = {
  ...{ started_at: '2026-11-26T10:45:00Z', ended_at: '2026-11-26T10:46:00Z' },
  ...{ objects: 4, rows: 100, bytes: 2_000_000, error: null },
}

function show(usage: object, aged: object = {}) {
  mockApi({
    'GET /v1/usage': { plan: null, contact: null, items: [VMS], ...usage },
    'GET /v1/pins': [],
    'GET /v1/aged-measurements': { after_days: 0, items: [], run: null, ...aged },
  })
  return showPage(<UsagePage />)
}

test('the plan, what is nearly used up and whom to ask are shown', async () => {
  await show({ plan: 'Trial', contact: 'noc@example.com', items: [VMS, DAYS] })
  expect(await screen.findByText('Plan: Trial')).toBeTruthy()
  expect(screen.getByText('Nearly used up: VMs')).toBeTruthy()
  expect(screen.getByText(/ask the operator \(noc@example.com\) for more/)).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^VMs/ })).getByText('Plan')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /^Retention of windows/ })).getByText('Installation')).toBeTruthy()
})

test('without a plan and ageing, the quotas of the installation hold, and nothing else is shown', async () => {
  await show({ items: [{ ...VMS, used: 2 }] })
  expect(await screen.findByText('No plan: the quotas of this installation hold.')).toBeTruthy()
  expect(screen.queryByText(/Nearly used up/)).toBeNull()
  expect(await screen.findByText('Pinned ranges')).toBeTruthy()
  expect(screen.queryByText('Object storage')).toBeNull()
})

test('what is in object storage is listed with the newest run', async () => {
  await show({}, { after_days: 14, items: [MINUTES], run: RUN })
  const row = within(await screen.findByRole('row', { name: /^Trading/ }))
  for (const cell of ['Minutes of VMs', '12', '1', /17.280/, '25.3']) expect(row.getByText(cell)).toBeTruthy()
  expect(screen.getByText(/older than 14 days/)).toBeTruthy()
  expect(screen.getByText(/4 objects written, 2.0 MB/)).toBeTruthy()
})

test('a run that failed says why', async () => {
  await show({}, { after_days: 14, run: { ...RUN, error: 'cannot put x in bucket y' } })
  expect(await screen.findByText(/^Newest run failed/)).toBeTruthy()
  expect(screen.getByText('cannot put x in bucket y')).toBeTruthy()
  expect(screen.getByText(/^No measurements in object storage yet/)).toBeTruthy()
})
