import { afterEach, expect, test } from 'vitest'
import { connection } from '~/lib/connection'
import { openShell } from '~/testing/openShell'
import { act, fireEvent, screen, userEvent, waitFor } from '~/testing/page'

afterEach(() => act(() => connection.set({ away: false, since: 0 })))

const bar = () => screen.queryByRole('banner')
const navigation = () => screen.queryByRole('link', { name: 'Heatmap' })

async function enter() {
  const router = await openShell('/meshes/m?metric=loss')
  await userEvent.keyboard('k')
  await waitFor(() => expect(bar()).toBeNull())
  return router
}

test('k leaves only the page, links keep the mode, and Escape ends it', async () => {
  const router = await enter()
  expect(navigation()).toBeNull()
  expect(screen.getByRole('main')).toBeDefined()
  expect(router.state.location.search).toMatchObject({ kiosk: true })
  await act(() => router.navigate({ to: '/vms' }))
  expect(router.state.location.search).toMatchObject({ kiosk: true })
  await userEvent.keyboard('{Escape}')
  await waitFor(() => expect(bar()).not.toBeNull())
  expect(router.state.location.search).not.toHaveProperty('kiosk')
})

test('a button that leaves appears when the pointer moves', async () => {
  await enter()
  const button = screen.getByRole('button', { name: 'Leave kiosk mode' })
  expect(button.parentElement?.dataset.shown).toBeUndefined()
  fireEvent(document, new Event('pointermove'))
  await waitFor(() => expect(button.parentElement?.dataset.shown).toBeDefined())
  await userEvent.click(button)
  await waitFor(() => expect(bar()).not.toBeNull())
})

test('a page that is not made for wall screens does not offer the mode', async () => {
  await openShell('/vms')
  expect(screen.queryByRole('button', { name: 'Kiosk mode' })).toBeNull()
  await userEvent.keyboard('k')
  expect(bar()).not.toBeNull()
})

test('a dead connection is said on the screen', async () => {
  await enter()
  expect(await screen.findByText(/^Updated \d+ s ago$/)).toBeDefined()
  const alert = await waitFor(() => {
    // An answer that was still under way says that the connection is back.
    act(() => connection.set({ away: true, since: Date.now() - 20_000 }))
    // The clock of the page moves once a second.
    return screen.getByText(/^No answer from Sinemora for (19|20) s/)
  })
  expect(alert.getAttribute('role')).toBe('alert')
})
