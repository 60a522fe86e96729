// @vitest-environment jsdom
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
const world = (role = 'admin', items: object[] = [EXPORT]) => ({
  'GET /v1/auth/status': {
    session: { user: { id: 'u', email: 'a@example.com' }, tenant: { name: 'Example' }, role, csrf_token: 't' },
  },
  [`GET ${PATH}`]: items,
})
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }))
const type = (label: string, text: string) => userEvent.type(screen.getByLabelText(label), text)

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
