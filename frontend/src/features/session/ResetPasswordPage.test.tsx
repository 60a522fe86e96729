import { expect, test, vi } from 'vitest'
import { bodiesOf, fill, refuse, reply, screen, userEvent, visit } from '~/testing/page'
import { ResetPasswordPage } from './ResetPasswordPage'

async function choose(password: string) {
  const field = screen.getByLabelText('New password')
  await fill(field, password)
  await userEvent.click(screen.getByRole('button', { name: 'Set password' }))
}

test('a weak password is refused at its field, a good one is set with the token of the link', async () => {
  const onDone = vi.fn()
  let weak = true
  const { sent } = await visit(<ResetPasswordPage token="secret-of-the-link" onDone={onDone} />, {
    'POST /v1/auth/password-resets/redeem': () => (weak ? refuse('password', 'Easy to guess.') : reply(204)),
  })
  await choose('aaaaaaaaaaaa')
  expect(await screen.findByText('Easy to guess.')).toBeTruthy()
  weak = false
  await choose('seven orbit lamp crane')
  expect((await screen.findByRole('status')).textContent).toContain('Your new password is set.')
  expect(bodiesOf(sent, 'POST /v1/auth/password-resets/redeem')[1]).toEqual({
    token: 'secret-of-the-link',
    password: 'seven orbit lamp crane',
  })
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
  expect(onDone).toHaveBeenCalled()
})

test('a link without its secret has no form', async () => {
  await visit(<ResetPasswordPage token="" onDone={vi.fn()} />, {})
  expect(screen.getByRole('alert').textContent).toContain('incomplete')
  expect(screen.queryByLabelText('New password')).toBeNull()
})
