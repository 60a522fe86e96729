import { expect, test, vi } from 'vitest'
import { type Answers, bodiesOf, fill, reply, screen, userEvent, visit } from '~/testing/page'
import { SignInPage } from './SignInPage'

const open = (answers: Answers, search = {}) => visit(<SignInPage search={search} onSignedIn={vi.fn()} />, answers)

test('a forgotten password: a link is requested, and the way back stays', async () => {
  const { sent } = await open({ 'POST /v1/auth/password-resets': () => reply(204) })
  await userEvent.click(screen.getByRole('button', { name: 'Forgotten password' }))
  await userEvent.type(screen.getByLabelText('E-mail'), ' ana@noc.example')
  await userEvent.click(screen.getByRole('button', { name: 'Send link' }))
  expect((await screen.findByRole('status')).textContent).toContain('If an account has this address')
  expect(bodiesOf(sent, 'POST /v1/auth/password-resets')).toEqual([{ email: 'ana@noc.example' }])
  await userEvent.click(screen.getByRole('button', { name: 'Back to sign-in' }))
  expect(screen.getByLabelText('Password')).toBeTruthy()
})

test('a failure at the provider shows its reason, and a second factor is asked for after it', async () => {
  const provider = { 'GET /v1/auth/provider': { name: 'Northwind' } }
  await open(provider, { failed: 'provider_no_role' })
  expect(screen.getByRole('alert').textContent).toContain('None of your groups has a role here')
  await open(provider, { factors: ['totp'] })
  expect(screen.getByLabelText('Code')).toBeTruthy()
})

test('people of a domain with a provider are led there, and a password is still possible', async () => {
  await visit(<SignInPage search={{ next: '/vms' }} onSignedIn={vi.fn()} />, {
    'GET /v1/auth/provider': ({ query }) =>
      reply(200, { name: null, of_domain: query.get('domain') === 'noc.example' }),
    'POST /v1/auth/sign-in': () =>
      reply(403, { detail: 'Single sign-on required.', code: 'single_sign_on_required', request_id: 'r-1' }),
  })
  await userEvent.type(screen.getByLabelText('E-mail'), 'ana@noc.example{Enter}')
  const link = await screen.findByRole('link', { name: 'Continue with single sign-on' })
  expect(link.getAttribute('href')).toBe('/v1/auth/provider/start?next=%2Fvms&domain=noc.example')
  expect(screen.queryByLabelText('Password')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Use a password' }))
  await userEvent.type(screen.getByLabelText('Password'), 'secret')
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
  expect((await screen.findByRole('alert')).textContent).toContain('Single sign-on required')
  expect(screen.getByRole('link', { name: 'Continue with single sign-on' })).toBeTruthy()
})

test('who opens a new installation creates the first account by the code of the log', async () => {
  const onSignedIn = vi.fn()
  location.hash = '#code=a4k2m7tq5vhxw3ce'
  const { sent } = await visit(<SignInPage search={{}} onSignedIn={onSignedIn} />, {
    'GET /v1/auth/status': { session: null, first_account_due: true },
    'POST /v1/auth/first-account': () => reply(204),
    'POST /v1/auth/sign-in': { role: 'owner' },
  })
  await fill(await screen.findByLabelText('Tenant'), 'Example')
  await fill(screen.getByLabelText('E-mail'), 'ada@example.com')
  await fill(screen.getByLabelText('Password'), 'correct horse battery')
  await userEvent.click(screen.getByRole('button', { name: 'Create account' }))
  await expect.poll(() => onSignedIn.mock.calls.length).toBe(1)
  const account = { email: 'ada@example.com', password: 'correct horse battery' }
  expect(bodiesOf(sent, 'POST /v1/auth/first-account')).toEqual([
    { code: 'a4k2m7tq5vhxw3ce', tenant_name: 'Example', ...account },
  ])
  expect(bodiesOf(sent, 'POST /v1/auth/sign-in')).toEqual([account])
})
