import { expect, test } from 'vitest'
import { bodiesOf, press, recordedItem, reply, screen, signedIn, userEvent, visit, within } from '~/testing/page'
import { MetricExportsPage } from './MetricExportsPage'

const EXPORT = recordedItem('/v1/metric-exports', {
  id: 'm',
  name: 'Mimir',
  url: 'https://mimir.example.com/api/v1/push',
  paths: [{ mesh_id: 'one', selections: ['from:v'] }],
})
/** Visit the metric exports as a role, with more answers. */
const open = (role: string, items: object[], answers: object) =>
  visit(<MetricExportsPage />, {
    ...signedIn({ role }),
    'GET /v1/metric-exports': items,
    'GET /v1/meshes': [
      { id: 'one', name: 'production' },
      { id: 'two', name: 'lab' },
    ],
    ...answers,
  })
const type = (label: string | RegExp, text: string) => userEvent.type(screen.getByLabelText(label), text)

test('a metric export is added with its credentials, headers and paths', async () => {
  const { sent } = await open('admin', [], { 'POST /v1/metric-exports': () => reply(201, EXPORT) })
  await screen.findByText(/^No metric exports yet/)
  await press('New metric export')
  await type('Name', 'Mimir')
  await userEvent.selectOptions(screen.getByLabelText('Protocol'), 'OTLP over HTTP')
  await type('URL', EXPORT.url)
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
        url: EXPORT.url,
        authentication: { scheme: 'basic', username: 'u', password: 'p' },
        headers: { 'X-Scope-OrgID': 'net' },
        paths: [{ mesh_id: 'two', selections: ['mesh'] }],
        paused: false,
      },
    ])
})

test('a change of paths keeps the credentials and the selections of the other mesh', async () => {
  const { sent } = await open('admin', [EXPORT], { 'PATCH /v1/metric-exports/m': () => reply(200, EXPORT) })
  await userEvent.click(await screen.findByRole('button', { name: 'Edit Mimir' }))
  const dialog = within(await screen.findByRole('dialog'))
  await userEvent.click(await dialog.findByLabelText('lab'))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  const paths = [...EXPORT.paths, { mesh_id: 'two', selections: ['mesh'] }]
  await expect.poll(() => bodiesOf(sent, 'PATCH /v1/metric-exports/m')).toEqual([{ paths }])
})

test('a metric export shows what was left out and why, and a test its result', async () => {
  const failing = {
    ...EXPORT,
    state: 'failing',
    failures: 3,
    error: 'mimir.example.com answers 401. Check the authentication.',
    left_out_from: '2026-11-27T01:03:00Z',
    left_out_until: '2026-11-27T01:11:00Z',
  }
  await open('editor', [failing], {
    'POST /v1/metric-exports/m/tests': () => reply(200, { error: 'Server not reached.' }),
  })
  expect((await screen.findByRole('alert')).textContent).toContain(
    'Mimir has failed 3 times.mimir.example.com answers 401.',
  )
  for (const name of ['New metric export', 'Edit Mimir']) expect(screen.queryByRole('button', { name })).toBeNull()
  expect(screen.getByText(/01:03 UTC to .*01:11 UTC/)).toBeTruthy()
  await press('Test Mimir')
  expect(await screen.findByText(/Server not reached/)).toBeTruthy()
})
