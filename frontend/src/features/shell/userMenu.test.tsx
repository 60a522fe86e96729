import { expect, test, vi } from 'vitest'
import { bodiesOf, recordedItem, reply, screen, userEvent, visit } from '~/testing/page'
import { UserMenu } from './UserMenu'

const own = (id: string, name: string, is_current: boolean) =>
  recordedItem('/v1/tenants', { id, name, is_current, role: 'viewer', deletion_at: null })

test('the account menu switches to another tenant and loads everything anew', async () => {
  const assign = vi.fn()
  vi.stubGlobal('location', { ...window.location, assign })
  const { sent } = await visit(<UserMenu />, {
    'GET /v1/tenants': { items: [own('a', 'Sinemora', true), own('b', 'Staging', false)], may_create: false },
    'POST /v1/tenants/b/switch': () => reply(204),
  })
  await userEvent.click(screen.getByRole('button', { name: 'Account' }))
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Staging' }))
  await expect.poll(() => assign.mock.calls).toEqual([['/']])
  expect(bodiesOf(sent, 'POST /v1/tenants/b/switch')).toHaveLength(1)
})

test('a person with one tenant has nothing to switch to', async () => {
  await visit(<UserMenu />, { 'GET /v1/tenants': { items: [own('a', 'Sinemora', true)], may_create: false } })
  await userEvent.click(screen.getByRole('button', { name: 'Account' }))
  expect(await screen.findByRole('menuitem', { name: 'Sign out' })).toBeTruthy()
  expect(screen.queryByText('Switch tenant')).toBeNull()
})
