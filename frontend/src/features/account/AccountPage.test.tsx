import { expect, test } from 'vitest'
import { bodiesOf, fail, reply, type Sent, signedIn } from '~/testing/api'
import { mockAuthenticator } from '~/testing/authenticator'
import { fill, recorded, screen, userEvent, visit, within } from '~/testing/page'
import { AccountPage } from './AccountPage'

const ACCOUNT = recorded('/v1/account', {
  ...{ totp: null, passkeys: [], recovery_codes_left: 0, factors: [], required_by: [] },
})
const PROTECTED = {
  ...ACCOUNT,
  totp: { created_at: '2026-11-02T10:00:00Z', last_used_at: null },
  factors: ['totp', 'recovery_code'],
}
const LAPTOP = { id: 'p', name: 'Laptop', rp_id: 'localhost', created_at: '2026-11-20T10:00:00Z', last_used_at: null }
const COMMON = { 'GET /v1/account/sessions': [], 'GET /v1/sign-in-policy': { second_factor_required: false } }
const open = (account: object, answers: object) =>
  visit(<AccountPage />, { ...COMMON, 'GET /v1/account': account, ...answers })

const unconfirmed = () => reply(403, { code: 'confirmation_required', detail: 'Confirmation required.' })

test('signing out elsewhere keeps this session, everywhere leads to the sign-in page', async () => {
  const { sent, router } = await open(ACCOUNT, { 'DELETE /v1/account/sessions': () => reply(204) })
  const kept = () =>
    sent.filter(({ to }) => to === 'DELETE /v1/account/sessions').map(({ query }) => query.get('keep_this'))
  await userEvent.click(await screen.findByRole('button', { name: 'Sign out other browsers' }))
  await expect.poll(kept).toEqual(['true'])
  await userEvent.click(screen.getByRole('button', { name: 'Sign out everywhere' }))
  await expect.poll(kept).toEqual(['true', 'false'])
  await expect.poll(() => router.state.location.pathname).toBe('/sign-in')
})

test('an authenticator app is added by its first code, and recovery codes are shown once', async () => {
  const status = () => reply(200, signedIn()['GET /v1/auth/status'])
  let account: object = ACCOUNT
  const { promise: late, resolve: answer } = Promise.withResolvers<Response>()
  let asked = 0
  const { sent } = await open(ACCOUNT, {
    // The account is fresh, and the setup gone, long before the session is.
    'GET /v1/auth/status': () => (asked++ === 0 ? status() : late),
    'GET /v1/account': () => reply(200, account),
    'POST /v1/account/totp': () =>
      reply(201, { secret: 'GEZDGNBV', uri: 'otpauth://totp/x', qr_code: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
    'POST /v1/account/totp/confirm': () => {
      account = PROTECTED
      return reply(200, { recovery_codes: ['aaaa-bbbb-cccc-dddd', 'eeee-ffff-gggg-hhhh'] })
    },
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Add authenticator app' }))
  await userEvent.type(await screen.findByLabelText('Code'), '123456')
  await userEvent.click(screen.getByRole('button', { name: 'Confirm' }))
  expect(await screen.findByText('aaaa-bbbb-cccc-dddd')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/account/totp/confirm')).toEqual([{ code: '123456' }])
  await userEvent.click(screen.getByRole('button', { name: 'I have kept them' }))
  expect(screen.queryByText('aaaa-bbbb-cccc-dddd')).toBeNull()
  expect(await screen.findByRole('button', { name: 'Remove authenticator app' })).toBeTruthy()
  answer(status())
})

test('a change that needs a recent proof asks for a code, then goes through', async () => {
  let confirmed = false
  const { sent } = await open(PROTECTED, {
    'POST /v1/account/recovery-codes': () =>
      confirmed ? reply(201, { recovery_codes: ['aaaa-bbbb-cccc-dddd'] }) : unconfirmed(),
    'POST /v1/account/confirmations': ({ body }: Sent) => {
      if ((body as { code: string }).code !== '123456') return fail(403, 'Confirmation refused.')
      confirmed = true
      return reply(204)
    },
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Create new recovery codes' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Create' }))
  const code = await screen.findByLabelText('Code')
  await userEvent.type(code, '000000')
  await userEvent.click(screen.getByRole('button', { name: 'Confirm' }))
  expect((await screen.findByRole('alert')).textContent).toContain('Confirmation refused.')
  await fill(code, '123456')
  await userEvent.click(screen.getByRole('button', { name: 'Confirm' }))
  expect(await screen.findByText('aaaa-bbbb-cccc-dddd')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/account/recovery-codes')).toHaveLength(2)
})

test('an owner requires a second factor of all members; a refusal shows its reason', async () => {
  const { sent } = await open(ACCOUNT, {
    'PUT /v1/sign-in-policy': () => fail(409, 'Second factor missing: set one up for yourself.'),
  })
  await userEvent.click(await screen.findByLabelText('Require a second factor'))
  expect((await screen.findByRole('alert')).textContent).toContain('Second factor missing')
  expect(bodiesOf(sent, 'PUT /v1/sign-in-policy')).toEqual([{ second_factor_required: true }])
})

test('people change the name that others see', async () => {
  const answer = { 'PATCH /v1/account': () => reply(200, { ...ACCOUNT, name: 'Ada Byron' }) }
  const { sent } = await open({ ...ACCOUNT, name: 'Ada' }, answer)
  const name = await screen.findByLabelText<HTMLInputElement>('Your name')
  expect(name.value).toBe('Ada')
  await userEvent.type(name, ' Byron')
  await userEvent.click(screen.getByRole('button', { name: 'Save name' }))
  expect(await screen.findByText('The name is saved.')).toBeTruthy()
  expect(bodiesOf(sent, 'PATCH /v1/account')).toEqual([{ name: 'Ada Byron' }])
})

test('a closed dialog of the browser is no error, and nothing is stored', async () => {
  const asked = mockAuthenticator({ refuses: true })
  const { sent } = await open(ACCOUNT, {
    'POST /v1/account/passkey-options': recorded('/v1/account/passkey-options', {}, 'post'),
  })
  await userEvent.type(await screen.findByLabelText('Name of a new passkey'), 'Laptop')
  await userEvent.click(screen.getByRole('button', { name: 'Add passkey' }))
  await expect.poll(() => asked.length).toBe(1)
  expect(screen.queryByRole('alert')).toBeNull()
  expect(bodiesOf(sent, 'POST /v1/account/passkeys')).toEqual([])
})

test('a passkey is removed after a confirmation by a passkey', async () => {
  mockAuthenticator()
  let confirmed = false
  const { sent } = await open(
    { ...ACCOUNT, passkeys: [LAPTOP], factors: ['passkey', 'recovery_code'] },
    {
      'DELETE /v1/account/passkeys/p': () => (confirmed ? reply(204) : unconfirmed()),
      'POST /v1/account/confirmation-options': { options: { challenge: 'AAAA', rpId: 'localhost' } },
      'POST /v1/account/confirmations': () => {
        confirmed = true
        return reply(204)
      },
    },
  )
  await userEvent.click(await screen.findByRole('button', { name: 'Remove passkey Laptop' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Remove' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Use a passkey' }))
  await expect.poll(() => bodiesOf(sent, 'DELETE /v1/account/passkeys/p').length).toBe(2)
})
