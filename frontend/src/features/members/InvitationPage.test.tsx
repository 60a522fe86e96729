import { beforeEach, expect, test, vi } from 'vitest'
import { bodiesOf, recorded, reply, screen, signedIn, userEvent, visit } from '~/testing/page'
import { InvitationPage } from './InvitationPage'
import { forgetInvitationToken, invitationToken } from './invitationToken'

const PREVIEW = recorded('/v1/invitations/lookup', { email: 'ada@example.com', has_account: true }, 'post')
const NOBODY = { 'GET /v1/auth/status': { session: null } }
const person = (email: string) => signedIn({ user: { id: 'u', email } })
const open = (who: object, onJoined = vi.fn()) =>
  visit(<InvitationPage token="smi_1" onJoined={onJoined} />, {
    ...who,
    'POST /v1/invitations/lookup': PREVIEW,
    'POST /v1/invitations/accept': () => reply(200, { tenant_id: 't', tenant_name: 'Example', email: PREVIEW.email }),
    'POST /v1/tenants/t/switch': () => reply(204),
  })

beforeEach(() => sessionStorage.clear())

test('a person with an account signs in first', async () => {
  await open(NOBODY)
  const link = await screen.findByRole('link', { name: 'Sign in to join' })
  expect(link.getAttribute('href')).toBe('/sign-in?next=%2Finvitation')
  expect(screen.queryByLabelText('Password')).toBeNull()
})

test('the invited person who is signed in joins with one button', async () => {
  const onJoined = vi.fn()
  const { sent } = await open(person('ada@example.com'), onJoined)
  await userEvent.click(await screen.findByRole('button', { name: 'Join' }))
  await expect.poll(() => onJoined.mock.calls.length).toBe(1)
  expect(bodiesOf(sent, 'POST /v1/tenants/t/switch')).toHaveLength(1)
})

test('another person is asked to sign out', async () => {
  await open(person('eve@example.com'))
  expect((await screen.findByRole('alert')).textContent).toContain('eve@example.com')
  expect(screen.getByRole('button', { name: 'Sign out' })).toBeTruthy()
})

test('a link without its secret shows what to do', async () => {
  await visit(<InvitationPage token={undefined} onJoined={() => {}} />, NOBODY)
  expect(await screen.findByRole('heading', { name: 'Invitation link incomplete' })).toBeTruthy()
})

test('the secret survives a sign-in in this tab, until it is used', () => {
  expect(invitationToken('')).toBeUndefined()
  expect(invitationToken('token=smi_1')).toBe('smi_1')
  expect(invitationToken('')).toBe('smi_1')
  forgetInvitationToken()
  expect(invitationToken('')).toBeUndefined()
})
