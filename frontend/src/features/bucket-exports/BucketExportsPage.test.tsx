import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, mockApi, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { BucketExportsPage } from './BucketExportsPage'

const EXPORT = {
  id: 'b',
  name: 'Warehouse',
  endpoint: 'https://s3.example.com',
  region: 'us-east-1',
  bucket: 'measurements',
  prefix: 'sinemora',
  access_key: 'AK',
  schedule: 'daily',
  hour: 1,
  tables: ['zones_1m'],
  paused: false,
  state: 'succeeded',
  next_at: '2026-11-28T01:10:00Z',
  job_id: null,
  succeeded_at: '2026-11-27T01:11:00Z',
  failed_at: null,
  failures: 0,
  error: null,
  days: 30,
  rows: 43200,
  bytes: 2_500_000,
  version: 3,
  created_at: '2026-11-20T00:00:00Z',
}
const PATH = '/v1/bucket-exports'
const METRICS = {
  id: 'm',
  name: 'Mimir',
  kind: 'remote_write',
  url: 'https://mimir.example.com/api/v1/push',
  authentication: 'bearer',
  headers: { 'X-Scope-OrgID': 'net' },
  paths: [{ mesh_id: 'one', selections: ['from:v'] }],
  paused: false,
  state: 'sending',
  next_at: '2026-11-27T01:12:00Z',
  sent_until: '2026-11-27T01:10:00Z',
  samples: 43200,
  succeeded_at: '2026-11-27T01:11:00Z',
  failed_at: null,
  failures: 0,
  error: null,
  left_out_from: null,
  left_out_until: null,
  version: 3,
  created_at: '2026-11-20T00:00:00Z',
}
const world = (role = 'admin', items: object[] = [EXPORT], metrics: object[] = []) => ({
  'GET /v1/auth/status': {
    session: { user: { id: 'u', email: 'a@example.com' }, tenant: { name: 'Example' }, role, csrf_token: 't' },
  },
  [`GET ${PATH}`]: items,
  'GET /v1/metric-exports': metrics,
  'GET /v1/meshes': [
    { id: 'one', name: 'production' },
    { id: 'two', name: 'lab' },
  ],
})
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }))
const type = (label: string | RegExp, text: string) => userEvent.type(screen.getByLabelText(label), text)

test('an administrator adds an export, and its secret is not shown again', async () => {
  const sent = mockApi({ ...world('admin', []), [`POST ${PATH}`]: () => reply(201, EXPORT) })
  await showPage(<BucketExportsPage />)
  await screen.findByText(/^No bucket exports yet/)
  await press('New bucket export')
  await type('Name', 'Warehouse')
  await type('Bucket name', 'measurements')
  await type('Access key ID', 'AK')
  await type('Secret access key', 's3cret')
  await userEvent.click(screen.getByLabelText('Zones, days'))
  await press('Add export')
  await expect
    .poll(() => bodiesOf(sent, `POST ${PATH}`))
    .toEqual([
      {
        name: 'Warehouse',
        endpoint: '',
        region: 'us-east-1',
        bucket: 'measurements',
        prefix: 'sinemora',
        access_key: 'AK',
        secret: 's3cret',
        schedule: 'daily',
        hour: 1,
        tables: ['zones_1m', 'vms_1h', 'zones_1d'],
        paused: false,
      },
    ])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
})

test('a failing export shows the reason and the next attempt', async () => {
  mockApi(world('viewer', [{ ...EXPORT, state: 'failing', failures: 2, error: 'Refused by the bucket: 403.' }]))
  await showPage(<BucketExportsPage />)
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Warehouse has failed 2 times.')
  expect(alert.textContent).toContain('Refused by the bucket: 403.')
  expect(alert.textContent).toContain('Next attempt')
  expect(screen.queryByRole('button', { name: 'Run Warehouse' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'New bucket export' })).toBeNull()
})

test('one reason of several failures is shown once', async () => {
  const reason = 'Refused by the bucket: 403.'
  const job = { id: 'j', state: 'queued', progress: null, cancel_requested: false, output: null }
  mockApi({
    ...world('editor', [{ ...EXPORT, state: 'failing', failures: 2, error: reason }]),
    [`POST ${PATH}/b/tests`]: () => reply(200, { object_key: 'sinemora/test', error: reason }),
    [`POST ${PATH}/b/runs`]: () => reply(202, job),
    'GET /v1/jobs/j': () => reply(200, { ...job, state: 'failed', problem: { detail: reason } }),
  })
  await showPage(<BucketExportsPage />)
  await screen.findByRole('button', { name: 'Test Warehouse' })
  await press('Test Warehouse')
  await press('Run Warehouse')
  expect(await screen.findByText('The run of Warehouse failed.')).toBeTruthy()
  expect(screen.getAllByText('The reason is the one above.')).toHaveLength(2)
  expect(screen.getAllByText(reason, { exact: false })).toHaveLength(1)
})

test('the bucket is tested, and an export run and followed to its end', async () => {
  const job = { id: 'j', state: 'queued', progress: null, cancel_requested: false, output: null }
  mockApi({
    ...world('editor'),
    [`POST ${PATH}/b/tests`]: () => reply(200, { object_key: 'sinemora/test', error: 'Bucket not reached.' }),
    [`POST ${PATH}/b/runs`]: () => reply(202, job),
    'GET /v1/jobs/j': () => reply(200, { ...job, state: 'succeeded', result: { days: 2, rows: 2880 } }),
  })
  await showPage(<BucketExportsPage />)
  await userEvent.click(await screen.findByRole('button', { name: 'Test Warehouse' }))
  expect((await screen.findByRole('alert')).textContent).toContain('Bucket not reached.')
  await press('Run Warehouse')
  expect(await screen.findByText(/^Warehouse: 2 days, 2.880 rows exported/)).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Edit Warehouse' })).toBeNull()
})

test('a change sends what was changed, with the version', async () => {
  const sent = mockApi({ ...world(), [`PATCH ${PATH}/b`]: () => reply(200, { ...EXPORT, version: 4 }) })
  await showPage(<BucketExportsPage />)
  await userEvent.click(await screen.findByRole('button', { name: 'Edit Warehouse' }))
  const dialog = within(await screen.findByRole('dialog'))
  await userEvent.click(dialog.getByLabelText('Paused'))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  await expect.poll(() => bodiesOf(sent, `PATCH ${PATH}/b`)).toEqual([{ paused: true }])
})

test('a metric export is added with its credentials, headers and paths', async () => {
  const sent = mockApi({ ...world('admin', []), 'POST /v1/metric-exports': () => reply(201, METRICS) })
  await showPage(<BucketExportsPage />)
  await screen.findByText(/^No metric exports yet/)
  await press('New metric export')
  await type('Name', 'Mimir')
  await userEvent.selectOptions(screen.getByLabelText('Protocol'), 'OTLP over HTTP')
  await type('URL', METRICS.url)
  await userEvent.selectOptions(screen.getByLabelText('Authentication'), 'Username and password')
  await type(/^Username/, 'u')
  await type(/^Password/, 'p')
  await type('More headers', 'X-Scope-OrgID: net')
  await userEvent.click(await screen.findByLabelText('lab'))
  await press('Add export')
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/metric-exports'))
    .toEqual([
      {
        name: 'Mimir',
        kind: 'otlp',
        url: METRICS.url,
        authentication: { scheme: 'basic', username: 'u', password: 'p' },
        headers: { 'X-Scope-OrgID': 'net' },
        paths: [{ mesh_id: 'two', selections: ['mesh'] }],
        paused: false,
      },
    ])
})

test('a change of paths keeps the credentials and the selections of the other mesh', async () => {
  const sent = mockApi({ ...world('admin', [], [METRICS]), 'PATCH /v1/metric-exports/m': () => reply(200, METRICS) })
  await showPage(<BucketExportsPage />)
  await userEvent.click(await screen.findByRole('button', { name: 'Edit Mimir' }))
  const dialog = within(await screen.findByRole('dialog'))
  await userEvent.click(await dialog.findByLabelText('lab'))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  const paths = [...METRICS.paths, { mesh_id: 'two', selections: ['mesh'] }]
  await expect.poll(() => bodiesOf(sent, 'PATCH /v1/metric-exports/m')).toEqual([{ paths }])
})

test('a metric export shows what was left out and why, and a test its result', async () => {
  const failing = {
    ...METRICS,
    state: 'failing',
    failures: 3,
    error: 'mimir.example.com answers 401. Check the authentication.',
    left_out_from: '2026-11-27T01:03:00Z',
    left_out_until: '2026-11-27T01:11:00Z',
  }
  mockApi({
    ...world('editor', [], [failing]),
    'POST /v1/metric-exports/m/tests': () => reply(200, { error: 'Server not reached.' }),
  })
  await showPage(<BucketExportsPage />)
  expect((await screen.findByRole('alert')).textContent).toContain(
    'Mimir has failed 3 times.mimir.example.com answers 401.',
  )
  expect(screen.getByText(/01:03 UTC to .*01:11 UTC/)).toBeTruthy()
  await press('Test Mimir')
  expect(await screen.findByText(/Server not reached/)).toBeTruthy()
})
