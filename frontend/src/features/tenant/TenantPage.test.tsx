import { expect, test } from 'vitest'
import { bodiesOf, fill, mockApi, reply, screen, showPage, userEvent, within } from '~/testing/page'
import { TenantPage } from './TenantPage'

const TENANT = {
  id: 't',
  key: 1,
  name: 'Example',
  role: 'owner',
  is_current: true,
  deletion_at: null,
  service_traffic: false,
}
const MEMBERS = [
  { id: 'u1', email: 'owner@example.com', name: '', role: 'owner', created_at: '2026-11-20T00:00:00Z' },
  { id: 'u2', email: 'ada@example.com', name: 'Ada', role: 'viewer', created_at: '2026-11-21T00:00:00Z' },
]
const world = (role = 'owner', may_create = false) => ({
  'GET /v1/auth/status': {
    session: { user: { id: 'u1', email: 'owner@example.com' }, tenant: { name: 'Example' }, role, csrf_token: 't' },
  },
  'GET /v1/tenants': { items: [{ ...TENANT, role }], may_create },
  'GET /v1/members': MEMBERS,
})
const panel = async (name: string) =>
  within((await screen.findByRole('heading', { name })).closest('section') as HTMLElement)

test('an owner renames the tenant', async () => {
  const sent = mockApi({ ...world(), 'PUT /v1/tenants/t': { ...TENANT, name: 'Network team' } })
  await showPage(<TenantPage />)
  const name = (await panel('Rename')).getByLabelText('Name')
  await fill(name, 'Network team')
  await userEvent.click(screen.getByRole('button', { name: 'Save name' }))
  expect(await screen.findByText('Name saved.')).toBeTruthy()
  expect(bodiesOf(sent, 'PUT /v1/tenants/t')).toEqual([{ name: 'Network team' }])
})

test('an owner switches traffic by service on', async () => {
  const sent = mockApi({ ...world(), 'PUT /v1/tenants/t': { ...TENANT, service_traffic: true } })
  await showPage(<TenantPage />)
  await userEvent.click((await panel('Traffic by service')).getByLabelText('Count TCP connections between VMs'))
  await expect.poll(() => bodiesOf(sent, 'PUT /v1/tenants/t')).toEqual([{ service_traffic: true }])
})

test('the ownership is transferred once the name is typed', async () => {
  const sent = mockApi({ ...world(), 'POST /v1/ownership-transfers': () => reply(201, MEMBERS[1]) })
  await showPage(<TenantPage />)
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
  mockApi(world('admin'))
  await showPage(<TenantPage />)
  expect(await screen.findByText(/^An owner can rename/)).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'Transfer ownership' })).toBeNull()
  expect(screen.getByRole('heading', { name: 'Leave tenant' })).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'New tenant' })).toBeNull()
})

test('a tenant is created where the operator allows it', async () => {
  const sent = mockApi({
    ...world('viewer', true),
    'POST /v1/tenants': () => reply(201, { ...TENANT, id: 'n', name: 'Staging', is_current: false }),
  })
  await showPage(<TenantPage />)
  await userEvent.type((await panel('New tenant')).getByLabelText('Name'), 'Staging')
  await userEvent.click(screen.getByRole('button', { name: 'Create tenant' }))
  expect(await screen.findByRole('button', { name: 'Open Staging' })).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/tenants')).toEqual([{ name: 'Staging' }])
})
