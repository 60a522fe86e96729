// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { bodiesOf, fail, mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { SignInPage } from './SignInPage'

async function signIn() {
  await userEvent.type(screen.getByLabelText('E-mail'), 'owner@sinemora.example')
  await userEvent.type(screen.getByLabelText('Password'), 'secret')
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
}

test('signing in opens the requested page', async () => {
  const onSignedIn = vi.fn()
  const sent = mockApi({ 'POST /v1/auth/sign-in': { role: 'owner' } })
  await showPage(<SignInPage ended onSignedIn={onSignedIn} />)
  expect(screen.getByText('Your session has ended. Sign in to continue.')).toBeTruthy()
  await signIn()
  await expect.poll(() => onSignedIn.mock.calls.length).toBe(1)
  expect(bodiesOf(sent, 'POST /v1/auth/sign-in')).toEqual([{ email: 'owner@sinemora.example', password: 'secret' }])
})

test('a wrong password is reported, and nothing typed is lost', async () => {
  const onSignedIn = vi.fn()
  mockApi({ 'POST /v1/auth/sign-in': () => fail(401, 'E-mail or password is wrong.') })
  await showPage(<SignInPage ended={false} onSignedIn={onSignedIn} />)
  await signIn()
  expect((await screen.findByRole('alert')).textContent).toContain('E-mail or password is wrong.')
  expect(screen.getByLabelText<HTMLInputElement>('E-mail').value).toBe('owner@sinemora.example')
  expect(onSignedIn).not.toHaveBeenCalled()
})
