import type { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { sessionQuery } from '~/api/access'
import { sessionEnd, useSessionEnded } from '~/api/sessionEnd'
import { fill, reply, screen, userEvent, visit } from '~/testing/page'
import SessionEnded from './SessionEnded'

const session = (user: string, tenant = 't') => ({
  user: { id: user, email: `${user}@example.com` },
  tenant: { id: tenant, name: tenant },
  role: 'owner',
  second_factor_due: false,
})

function Page() {
  const hasEnded = useSessionEnded()
  return (
    <>
      <input aria-label="Comment" />
      {hasEnded && <SessionEnded />}
    </>
  )
}

/** Type into a page, end its session, sign in as somebody. Return what the page has then. */
async function signInAgainAs(who: ReturnType<typeof session>) {
  const reload = vi.fn()
  vi.stubGlobal('location', { ...window.location, reload })
  let ended = false
  const { router } = await visit(<Page />, {
    'GET /v1/auth/status': () => reply(200, { session: ended ? null : session('ann') }),
    'GET /v1/auth/provider': { name: null },
    'POST /v1/auth/sign-in': () => reply(200, who),
  })
  await (router.options.context as { queryClient: QueryClient }).queryClient.ensureQueryData(sessionQuery)
  const comment = screen.getByRole<HTMLInputElement>('textbox', { name: 'Comment' })
  await fill(comment, 'half a sentence')
  ended = true
  sessionEnd.set(true)
  expect(await screen.findByText(/what you have entered on this page is kept/)).toBeTruthy()
  await userEvent.type(screen.getByLabelText('E-mail'), who.user.email)
  await fill(screen.getByLabelText('Password'), 'correct horse')
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
  return { comment, reload }
}

test.each([
  ['another person', session('bob')],
  ['another tenant', session('ann', 'other')],
])('%s gets a new page', async (_, who) => {
  const { reload } = await signInAgainAs(who)
  await expect.poll(() => reload.mock.calls.length).toBe(1)
  sessionEnd.set(false)
})
