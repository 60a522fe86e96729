import { expect, test } from 'vitest'
import { bodiesOf, fill, press, reply, screen, upload, userEvent, visit, within } from '~/testing/page'
import { ImportTrace } from './ImportTrace'
import { NewMaster } from './NewMaster'
import { ZonesPage } from './ZonesPage'

const field = (name: string | RegExp) => screen.getByRole<HTMLInputElement>('textbox', { name })

async function fillImport() {
  await press('Import a trace')
  const dialog = within(await screen.findByRole('dialog', { name: 'Import a trace' }))
  await userEvent.click(dialog.getByRole('button', { name: 'Import' }))
  expect(dialog.getByText('Choose a file.')).toBeTruthy()
  await userEvent.type(dialog.getByRole('textbox', { name: 'Name of the new mesh' }), 'old')
  await upload('at,source,target,round_trip_ns\n1,x,y,2\n', 'trace.csv', 'text/csv')
  return dialog
}

test('a trace is imported into a new mesh, and its job is shown', async () => {
  const { sent, router } = await visit(<ImportTrace />, {
    'POST /v1/meshes': () => reply(201, { id: 'm' }),
    'POST /v1/meshes/m/imports': () => reply(202, { id: 'j' }),
  })
  const dialog = await fillImport()
  await userEvent.selectOptions(dialog.getByLabelText('Timestamps'), 'Shifted to end now')
  await userEvent.click(dialog.getByRole('button', { name: 'Import' }))
  await expect.poll(() => router.state.location.pathname).toBe('/jobs')
  expect(bodiesOf(sent, 'POST /v1/meshes')).toMatchObject([{ name: 'old', rate_hz: 1 }])
  const upload = sent.find(({ to }) => to.endsWith('/imports'))
  expect(Object.fromEntries(upload?.query ?? [])).toEqual({ kind: 'csv', times: 'end_now' })
  expect(upload?.headers.get('Content-Type')).toBe('text/csv')
})

test('a PTPd log requires the names of client and server', async () => {
  await visit(<ImportTrace />, {})
  const dialog = await fillImport()
  expect(dialog.queryByRole('textbox', { name: 'Name of the client' })).toBeNull()
  await userEvent.selectOptions(dialog.getByLabelText('Format'), 'PTPd statistics log')
  expect(dialog.getByRole('textbox', { name: 'Name of the client' })).toBeTruthy()
  expect(dialog.getByRole('textbox', { name: 'Name of the server' })).toBeTruthy()
})

test('a zone is added without a physical ID', async () => {
  const answers = { 'GET /v1/zones': [], 'GET /v1/vms': [], 'POST /v1/zones': () => reply(201, { id: 'z' }) }
  const { sent } = await visit(<ZonesPage />, answers)
  await userEvent.click(await screen.findByRole('button', { name: 'Add a zone' }))
  await userEvent.type(field(/^Provider/), 'aws')
  await fill(field(/^Region/), 'eu-west-1')
  await fill(field(/^Zone/), 'eu-west-1a')
  await press('Add')
  expect(bodiesOf(sent, 'POST /v1/zones')).toEqual([
    { provider: 'aws', region: 'eu-west-1', name: 'eu-west-1a', physical_id: null },
  ])
})

test.each([
  ['Unicast negotiation', 'ieee1588'],
  ['SPTP', 'sptp'],
])('a PTP server with the protocol %s is added to a zone', async (protocol, responder) => {
  const { sent } = await visit(<NewMaster onDone={() => {}} />, {
    'GET /v1/zones': [{ id: 'z', name: 'eu-west-1a' }],
    'POST /v1/vms': () => reply(201, { id: 'v' }),
  })
  await screen.findByRole('option', { name: 'eu-west-1a' })
  await userEvent.type(field(/^Name/), 'clock-1')
  await fill(field(/^Address/), '10.0.0.9')
  const domain = screen.getByRole('spinbutton', { name: /^PTP domain/ })
  await fill(domain, '24')
  await userEvent.selectOptions(screen.getByRole('combobox', { name: /^Protocol/ }), protocol)
  await press('Add')
  expect(bodiesOf(sent, 'POST /v1/vms')).toMatchObject([
    { name: 'clock-1', zone_id: 'z', probe_address: '10.0.0.9', responder, ptp_domain: 24 },
  ])
})
