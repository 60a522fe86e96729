import { expect, test } from 'vitest'
import { mockAuthenticator } from '~/testing/authenticator'
import { bodiesOf, mockApi, reply, screen, showPage, userEvent, within } from '~/testing/page'
import { AccountPage } from './AccountPage'

const ACCOUNT = {
  user: { id: 'u', email: 'owner@sinemora.example' },
  password_changed_at: '2026-11-01T10:00:00Z',
  totp: null,
  passkeys: [],
  recovery_codes_left: 0,
  factors: [],
  required_by: [],
}
const LAPTOP = { id: 'p', name: 'Laptop', rp_id: 'localhost', created_at: '2026-11-20T10:00:00Z', last_used_at: null }
const WITH_KEY = { ...ACCOUNT, passkeys: [LAPTOP], recovery_codes_left: 10, factors: ['passkey', 'recovery_code'] }
const COMMON = { 'GET /v1/account/sessions': [], 'GET /v1/sign-in-policy': { second_factor_required: false } }
const OPTIONS = {
  options: {
    challenge: 'AAAA',
    rp: { id: 'localhost', name: 'Sinemora' },
    user: { id: 'AAAA', name: 'owner', displayName: 'owner' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  },
}

test('a closed dialog of the browser is no error, and nothing is stored', async () => {
  const asked = mockAuthenticator({ refuses: true })
  const sent = mockApi({ ...COMMON, 'GET /v1/account': ACCOUNT, 'POST /v1/account/passkey-options': OPTIONS })
  await showPage(<AccountPage />)
  await userEvent.type(await screen.findByLabelText('Name of a new passkey'), 'Laptop')
  await userEvent.click(screen.getByRole('button', { name: 'Add passkey' }))
  await expect.poll(() => asked.length).toBe(1)
  expect(screen.queryByRole('alert')).toBeNull()
  expect(bodiesOf(sent, 'POST /v1/account/passkeys')).toEqual([])
})

test('a passkey is removed after a confirmation by a passkey', async () => {
  mockAuthenticator()
  let confirmed = false
  const sent = mockApi({
    ...COMMON,
    'GET /v1/account': WITH_KEY,
    'DELETE /v1/account/passkeys/p': () =>
      confirmed ? reply(204) : reply(403, { code: 'confirmation_required', detail: 'Confirmation required.' }),
    'POST /v1/account/confirmation-options': { options: { challenge: 'AAAA', rpId: 'localhost' } },
    'POST /v1/account/confirmations': () => {
      confirmed = true
      return reply(204)
    },
  })
  await showPage(<AccountPage />)
  await userEvent.click(await screen.findByRole('button', { name: 'Remove passkey Laptop' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Remove' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Use a passkey' }))
  await expect.poll(() => bodiesOf(sent, 'DELETE /v1/account/passkeys/p').length).toBe(2)
})
