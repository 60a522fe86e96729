import { expect, test } from 'vitest'
import { bodiesOf, fail, hang, recorded, refuse, reply, screen, userEvent, visit, within } from '~/testing/page'
import { MeshSettingsPage } from './MeshSettingsPage'

const MESH = recorded('/v1/meshes/{mesh_id}', { id: 'm', name: 'demo', remove_gone_after_s: null })

/** Visit the settings of a mesh whose members load, with more answers. */
const open = (answers: object, mesh = MESH) =>
  visit(<MeshSettingsPage mesh={mesh} etag="1" />, { 'GET /v1/meshes/m/roster': hang, 'GET /v1/vms': [], ...answers })

test('a mesh can be deleted although its members cannot be read', async () => {
  await open({ 'GET /v1/meshes/m/roster': () => fail(503, 'The database is away.') })
  expect((await screen.findByRole('alert')).textContent).toContain('members')
  expect(screen.getByRole('button', { name: /^Delete/ })).toBeTruthy()
})

test('nothing below the members shows before they are known, so that nothing moves', async () => {
  await open({})
  expect(await screen.findByText('Loading the members…')).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})

const vm = (id: string, zone = 'b') => ({ id, name: `vm-${id}`, zone: { id: zone, name: `zone ${zone}` } })
const member = (id: string) => ({ id, name: `vm-${id}`, zone_name: 'zone a' })
const roster = (...vms: object[]) => ({ mesh_id: 'm', revision: 1, vms, zones: [] })

test('only VMs that are no members can be added, found by name or zone', async () => {
  const { sent } = await open({
    'GET /v1/meshes/m/roster': roster(member('1'), member('2')),
    'GET /v1/vms': [vm('1', 'a'), vm('2', 'a'), vm('3'), vm('4', 'c')],
    'PUT /v1/meshes/m/vms/3': () => reply(204),
  })
  const field = await screen.findByPlaceholderText('Choose from 2 VMs')
  await userEvent.click(field)
  const list = within(await screen.findByRole('listbox', { name: 'Add a VM' }))
  const options = () => list.getAllByRole('option').map(({ textContent }) => textContent)
  await expect.poll(options).toEqual(['vm-3, zone b', 'vm-4, zone c'])
  await userEvent.type(field, 'zone b')
  await expect.poll(options).toEqual(['vm-3, zone b'])
  await userEvent.click(list.getByRole('option', { name: 'vm-3, zone b' }))
  await expect.poll(() => sent.map(({ to }) => to)).toContain('PUT /v1/meshes/m/vms/3')
})

test.each([
  [[vm('1', 'a')], [member('1')], 'Every enrolled VM is a member of this mesh.'],
  [[], [], 'No VM is enrolled yet.'],
])('without a VM to add, the reason and the next step are given (%#)', async (vms, members, reason) => {
  await open({ 'GET /v1/meshes/m/roster': roster(...members), 'GET /v1/vms': vms })
  expect(await screen.findByText(reason, { exact: false })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Enrol a VM' }).getAttribute('href')).toBe('/onboarding?mesh=m')
  expect(screen.queryByRole('combobox', { name: 'Add a VM' })).toBeNull()
})

test('VMs that load are not taken for none', async () => {
  await open({ 'GET /v1/meshes/m/roster': roster(member('1')), 'GET /v1/vms': hang })
  expect(await screen.findByPlaceholderText('Loading VMs…')).toBeTruthy()
  expect(screen.queryByText(/Every enrolled VM/)).toBeNull()
})

test.each([
  [/^Spike above/, null, '62.5', { spike_threshold_ns: 62_500 }, 'loss_deadline_ms'],
  [/^Remove VMs gone/, null, '10', { remove_gone_after_s: 600 }, 'remove_gone_after_s'],
  [/^Remove VMs gone/, 600, '', { remove_gone_after_s: null }, 'remove_gone_after_s'],
])('%s, %s s, then "%s", is sent as %j; a refusal of %s has its reason', async (name, before, typed, body, refused) => {
  const refusal = { 'PATCH /v1/meshes/m': () => refuse(refused, 'Out of bounds.') }
  const { sent } = await open(refusal, { ...MESH, remove_gone_after_s: before })
  const field = await screen.findByRole('spinbutton', { name })
  await userEvent.clear(field)
  if (typed) await userEvent.type(field, typed)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByText('Out of bounds.')).toBeTruthy()
  expect(bodiesOf(sent, 'PATCH /v1/meshes/m')).toEqual([body])
})
