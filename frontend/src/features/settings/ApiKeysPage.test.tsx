import { expect, test } from 'vitest'
import { bodiesOf, fill, recordedItem, reply, screen, userEvent, visit, within } from '~/testing/page'
import { ApiKeysPage } from './ApiKeysPage'

const KEY = recordedItem('/v1/api-keys', { id: 'k', name: 'Dashboards', scopes: ['read'] })

const openForm = async () => userEvent.click(await screen.findByRole('button', { name: 'New key' }))

test('a key is limited to the resources that are selected', async () => {
  const { sent } = await visit(<ApiKeysPage />, {
    'GET /v1/api-keys': [{ ...KEY, scopes: ['alerts:read', 'alerts:write', 'inventory:read'], owner: null }],
    'POST /v1/api-keys': () => reply(201, { ...KEY, secret: 'sm_abc_secret' }),
  })
  const row = await screen.findByRole('row', { name: /Dashboards/ })
  expect(within(row).getByText('Inventory and meshes: read, Alerts: read and write')).toBeTruthy()
  expect(within(row).getByText('Service account')).toBeTruthy()
  await openForm()
  await userEvent.type(screen.getByLabelText('Name'), 'Pages')
  await userEvent.selectOptions(screen.getByLabelText('Resources'), 'Selected resources')
  await userEvent.click(screen.getByRole('button', { name: 'Create key' }))
  expect(screen.getByText('Choose at least one resource, or allow all.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/api-keys')).toEqual([])
  await userEvent.click(screen.getByLabelText('Alerts'))
  await userEvent.click(screen.getByLabelText('Service account'))
  await userEvent.click(screen.getByRole('button', { name: 'Create key' }))
  expect(bodiesOf(sent, 'POST /v1/api-keys')).toMatchObject([{ scopes: ['alerts:read'], service_account: true }])
})

test('a rotated key shows its new secret once', async () => {
  const { sent } = await visit(<ApiKeysPage />, {
    'GET /v1/api-keys': [KEY],
    'POST /v1/api-keys/k/rotate': () => reply(200, { ...KEY, secret: 'sm_new_secret' }),
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Rotate Dashboards' }))
  await userEvent.selectOptions(screen.getByLabelText('Old secret stays valid for'), '1 hour')
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Rotate' }))
  expect(await screen.findByText('sm_new_secret')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/api-keys/k/rotate')).toMatchObject([{ overlap_s: 3600 }])
})

test('a key is created once the person has confirmed who they are', async () => {
  let isConfirmed = false
  const { sent } = await visit(<ApiKeysPage />, {
    'GET /v1/api-keys': [],
    'GET /v1/account': { factors: [], password_changed_at: '2026-11-20T00:00:00Z' },
    'POST /v1/account/confirmations': () => {
      isConfirmed = true
      return reply(204)
    },
    'POST /v1/api-keys': () =>
      isConfirmed
        ? reply(201, { ...KEY, secret: 'sm_abc_secret' })
        : reply(403, { code: 'confirmation_required', detail: 'Confirmation required.' }),
  })
  await openForm()
  await fill(screen.getByLabelText('Name'), 'Dashboards')
  await userEvent.click(screen.getByRole('button', { name: 'Create key' }))
  const dialog = within(await screen.findByRole('dialog', { name: 'Confirm that it is you' }))
  await fill(dialog.getByLabelText('Password'), 'correct horse')
  await userEvent.click(dialog.getByRole('button', { name: 'Confirm' }))
  expect(await screen.findByText('sm_abc_secret')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/account/confirmations')).toEqual([{ password: 'correct horse' }])
  expect(bodiesOf(sent, 'POST /v1/api-keys')).toHaveLength(2)
})
