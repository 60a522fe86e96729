import { expect, test } from 'vitest'
import { bodiesOf, fail, reply, type Sent, signedIn } from '~/testing/api'
import { fill, recordedItem, screen, userEvent, visit, within } from '~/testing/page'
import { MembersPage } from './MembersPage'

const member = (changes: object) => recordedItem('/v1/members', { meshes: null, version: 1, ...changes })
const OWNING = member({ id: 'u1', email: 'owner@sinemora.example', role: 'owner' })
const ADA = member({ id: 'u2', email: 'ada@example.com', name: 'Ada Byron', role: 'viewer', version: 4 })
const MEMBERS = [OWNING, ADA]
const INVITATION = recordedItem('/v1/invitations', { id: 'i1', email: 'bo@example.com', meshes: null })
const MESHES = [
  { id: 'm1', name: 'production' },
  { id: 'm2', name: 'staging' },
]

const OWNER = {
  ...signedIn({ user: { id: 'u1', email: OWNING.email } }),
  'GET /v1/members': MEMBERS,
  'GET /v1/meshes': MESHES,
  'GET /v1/invitations': [],
}

const open = (more = {}) => visit(<MembersPage />, { ...OWNER, ...more })

test('an administrator gives no role above their own and leaves owners alone', async () => {
  await open(signedIn({ user: { id: 'u3' }, role: 'admin' }))
  const choice = await screen.findByLabelText('Role of ada@example.com')
  expect(
    within(choice)
      .getAllByRole('option')
      .map(({ textContent }) => textContent),
  ).toEqual(['Viewer', 'Editor', 'Admin'])
  expect(screen.queryByLabelText('Role of owner@sinemora.example')).toBeNull()
})

test('an invitation is renewed and revoked, and a failed mail shows its reason', async () => {
  const failed = { ...INVITATION, id: 'i2', email: 'cy@example.com', delivery: 'email', mail_state: 'failed' }
  const { sent } = await open({
    'GET /v1/invitations': [INVITATION, { ...failed, mail_answer: '550 no such user' }],
    'POST /v1/invitations/i1/resend': () => reply(200, { ...INVITATION, link: 'https://x/invitation#token=smi_2' }),
    'DELETE /v1/invitations/i1': () => reply(204),
  })
  expect(await screen.findByText(/550 no such user/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Create a new link for bo@example.com' }))
  expect(await screen.findByText('https://x/invitation#token=smi_2')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Revoke the invitation of bo@example.com' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Revoke' }))
  await expect.poll(() => bodiesOf(sent, 'DELETE /v1/invitations/i1')).toHaveLength(1)
})

test('an invited person sees the chosen meshes only', async () => {
  const { sent } = await open({
    'GET /v1/invitations': [{ ...INVITATION, meshes: [MESHES[1]] }],
    'POST /v1/invitations': () => reply(201, { ...INVITATION, link: null }),
  })
  expect(within(await screen.findByRole('row', { name: /bo@example.com/ })).getByText('staging')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Invite a person' }))
  await fill(screen.getByLabelText('E-mail'), 'cy@example.com')
  await userEvent.click(screen.getByRole('combobox', { name: 'Meshes' }))
  await userEvent.click(await screen.findByRole('option', { name: 'staging' }))
  await userEvent.click(screen.getByRole('button', { name: 'Send invitation' }))
  await expect.poll(() => bodiesOf(sent, 'POST /v1/invitations')).toMatchObject([{ mesh_ids: ['m2'] }])
  // An administrator sees all meshes, so there is nothing to choose.
  await userEvent.selectOptions(screen.getByLabelText('Role'), 'Admin')
  expect(screen.queryByRole('combobox', { name: 'Meshes' })).toBeNull()
})

test('a member is limited to some meshes, and sees all again', async () => {
  const limited = { ...ADA, meshes: [MESHES[0]] }
  const { sent } = await open({
    'GET /v1/members': [OWNING, limited],
    'PUT /v1/members/u2/meshes': () => reply(200, limited),
  })
  const row = within(await screen.findByRole('row', { name: /Ada Byron/ }))
  await userEvent.click(row.getByRole('button', { name: 'Change the meshes of ada@example.com' }))
  const dialog = within(screen.getByRole('dialog'))
  await userEvent.click(dialog.getByRole('combobox', { name: 'Meshes' }))
  await userEvent.click(await screen.findByRole('option', { name: 'production' }))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  await expect.poll(() => bodiesOf(sent, 'PUT /v1/members/u2/meshes')).toEqual([{ mesh_ids: null }])
  expect(screen.queryByRole('button', { name: 'Change the meshes of owner@sinemora.example' })).toBeNull()
})

const withMeshes = (meshes: typeof MESHES | null) => [OWNING, { ...ADA, meshes, version: meshes ? 5 : 4 }]

test('meshes of a member that another person changed meanwhile are not overwritten', async () => {
  let meshes: typeof MESHES | null = null
  const { sent } = await open({
    'GET /v1/members': () => reply(200, { items: withMeshes(meshes), next_cursor: null }),
    'PUT /v1/members/u2/meshes': ({ headers }: Sent) =>
      headers.get('If-Match') === `"${meshes ? 5 : 4}"` ? reply(200, ADA) : fail(412, 'Version changed.'),
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Change the meshes of ada@example.com' }))
  const dialog = within(screen.getByRole('dialog'))
  await userEvent.click(dialog.getByRole('combobox', { name: 'Meshes' }))
  await userEvent.click(await screen.findByRole('option', { name: 'staging' }))
  meshes = MESHES.slice(0, 1)
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  expect(await dialog.findByText('Meshes: All → production')).toBeTruthy()
  await userEvent.click(dialog.getByRole('button', { name: 'Keep my entries' }))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  await expect
    .poll(() => bodiesOf(sent, 'PUT /v1/members/u2/meshes'))
    .toEqual([{ mesh_ids: ['m2'] }, { mesh_ids: ['m2'] }])
})

test('a member whose meshes are all deleted gets all meshes only after a warning', async () => {
  await open({
    'GET /v1/members': withMeshes([]),
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Change the meshes of ada@example.com' }))
  const dialog = within(screen.getByRole('dialog'))
  expect(dialog.getByText(/sees all meshes, also future ones. Meshes they see now: None/)).toBeTruthy()
})
