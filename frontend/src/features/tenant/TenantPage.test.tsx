import { expect, test } from 'vitest'
import { bodiesOf, fill, recordedItem, reply, screen, signedIn, userEvent, visit, within } from '~/testing/page'
import { TenantPage } from './TenantPage'

const TENANT = recordedItem('/v1/tenants', { id: 't', name: 'Example', is_current: true, service_traffic: false })
const MEMBERS = [
  recordedItem('/v1/members', { id: 'u1', email: 'owner@example.com', role: 'owner' }),
  recordedItem('/v1/members', { id: 'u2', email: 'ada@example.com', role: 'viewer' }),
]
const open = (answers: object, role = 'owner', may_create = false) =>
  visit(<TenantPage />, {
    ...signedIn({ user: { id: 'u1', email: 'owner@example.com' }, role }),
    'GET /v1/tenants': { items: [{ ...TENANT, role }], may_create },
    'GET /v1/members': MEMBERS,
    ...answers,
  })
const panel = async (name: string) =>
  within((await screen.findByRole('heading', { name })).closest('section') as HTMLElement)

test('an owner renames the tenant', async () => {
  const { sent } = await open({ 'PUT /v1/tenants/t': { ...TENANT, name: 'Network team' } })
  await fill((await panel('Rename')).getByLabelText('Name'), 'Network team')
  await userEvent.click(screen.getByRole('button', { name: 'Save name' }))
  expect(await screen.findByText('Name saved.')).toBeTruthy()
  expect(bodiesOf(sent, 'PUT /v1/tenants/t')).toEqual([{ name: 'Network team' }])
})

test('an owner switches traffic by service on', async () => {
  const { sent } = await open({ 'PUT /v1/tenants/t': { ...TENANT, service_traffic: true } })
  await userEvent.click((await panel('Traffic by service')).getByLabelText('Count TCP connections between VMs'))
  await expect.poll(() => bodiesOf(sent, 'PUT /v1/tenants/t')).toEqual([{ service_traffic: true }])
})

test('the ownership is transferred once the name is typed', async () => {
  const { sent } = await open({ 'POST /v1/ownership-transfers': () => reply(201, MEMBERS[1]) })
  const transfer = await panel('Transfer ownership')
  const button = await transfer.findByRole<HTMLButtonElement>('button', { name: 'Transfer ownership' })
  expect(button.disabled).toBe(true)
  await userEvent.type(transfer.getByLabelText('Type Example to confirm'), 'Example')
  await userEvent.click(button)
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/ownership-transfers'))
    .toEqual([{ user_id: 'u2', tenant_name: 'Example' }])
})

test('others see what only an owner may do', async () => {
  await open({}, 'admin')
  expect(await screen.findByText(/^An owner can rename/)).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'Transfer ownership' })).toBeNull()
  expect(screen.getByRole('heading', { name: 'Leave tenant' })).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'New tenant' })).toBeNull()
})

test('a tenant is created where the operator allows it', async () => {
  const created = { ...TENANT, id: 'n', name: 'Staging', is_current: false }
  const { sent } = await open({ 'POST /v1/tenants': () => reply(201, created) }, 'viewer', true)
  await userEvent.type((await panel('New tenant')).getByLabelText('Name'), 'Staging')
  await userEvent.click(screen.getByRole('button', { name: 'Create tenant' }))
  expect(await screen.findByRole('button', { name: 'Open Staging' })).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/tenants')).toEqual([{ name: 'Staging' }])
})
