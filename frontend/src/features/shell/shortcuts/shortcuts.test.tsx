import { beforeEach, expect, test } from 'vitest'
import { openShell } from '~/testing/openShell'
import { screen, userEvent, waitFor } from '~/testing/page'

beforeEach(() => localStorage.clear())

const palette = { name: 'Search' }
const list = { name: 'Keyboard shortcuts' }

test.each([
  ['{Control>}k{/Control}', palette],
  ['{Meta>}k{/Meta}', palette],
  ['/', palette],
  ['?', list],
])('%s opens a dialog', async (keys, dialog) => {
  await openShell('/vms')
  await userEvent.keyboard(keys)
  expect(await screen.findByRole('dialog', dialog)).toBeTruthy()
  await userEvent.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test('"/" focuses the search of a page that has one', async () => {
  await openShell('/vms', { page: <input type="search" aria-label="Filter VMs" /> })
  await userEvent.keyboard('/')
  expect(document.activeElement).toBe(screen.getByRole('searchbox', { name: 'Filter VMs' }))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each(['{Control>}k{/Control}', '/', '?'])('%s is text, not a shortcut, in a field', async (keys) => {
  await openShell('/vms', { page: <input aria-label="Name" /> })
  await userEvent.click(screen.getByRole('textbox', { name: 'Name' }))
  await userEvent.keyboard(keys)
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a shortcut works where nothing is typed: at a radio button', async () => {
  await openShell('/vms', { page: <input type="radio" aria-label="p99" /> })
  await userEvent.click(screen.getByRole('radio', { name: 'p99' }))
  await userEvent.keyboard('?')
  expect(await screen.findByRole('dialog', list)).toBeTruthy()
})

test('over a dialog no other one opens', async () => {
  await openShell('/vms')
  await userEvent.keyboard('?')
  await screen.findByRole('dialog', list)
  await userEvent.keyboard('{Control>}k{/Control}')
  expect(screen.queryByRole('dialog', palette)).toBeNull()
})

test('a letter follows the link that the page gives it, but not from a field', async () => {
  const page = (
    <>
      <a
        href="/incidents"
        aria-keyshortcuts="u"
        onClick={(event) => {
          event.preventDefault()
          void router.navigate({ to: '/incidents' })
        }}
      >
        Worst
      </a>
      <input aria-label="Name" />
    </>
  )
  const router = await openShell('/vms', { page })
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'u')
  expect(router.state.location.pathname).toBe('/vms')
  await userEvent.click(document.body)
  await userEvent.keyboard('u')
  await expect.poll(() => router.state.location.pathname).toBe('/incidents')
})

test('shortcuts of one character can be switched off; Ctrl-K stays, and leads back to the switch', async () => {
  await openShell('/vms', { page: <input type="search" aria-label="Filter VMs" /> })
  await userEvent.keyboard('?')
  const toggle = await screen.findByRole<HTMLInputElement>('switch', { name: 'Shortcuts of one character' })
  expect(toggle.checked).toBe(true)
  await userEvent.click(toggle)
  await userEvent.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())

  await userEvent.keyboard('?/')
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(document.activeElement).not.toBe(screen.getByRole('searchbox', { name: 'Filter VMs' }))

  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.type(await screen.findByRole('combobox'), 'shortcuts')
  await userEvent.click(await screen.findByRole('option', { name: /Keyboard shortcuts/ }))
  expect((await screen.findByRole<HTMLInputElement>('switch')).checked).toBe(false)
  expect(localStorage.getItem('sinemora-single-key-shortcuts')).toBe('false')
})
