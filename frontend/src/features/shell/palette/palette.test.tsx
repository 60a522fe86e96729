import { beforeEach, expect, test } from 'vitest'
import { openShell } from '~/testing/openShell'
import { fill, screen, userEvent, waitFor, within } from '~/testing/page'

beforeEach(() => localStorage.clear())

const field = () => screen.findByRole<HTMLInputElement>('combobox', { name: /^Search/ })
const options = () => screen.getAllByRole('option')

/** Return the option that the field names as active. */
function active(): string | null | undefined {
  const id = screen.getByRole('combobox', { name: /^Search/ }).getAttribute('aria-activedescendant')
  const selected = options().filter((option) => option.getAttribute('aria-selected') === 'true')
  expect(selected.map((option) => option.id)).toEqual([id])
  return selected[0]?.textContent
}

async function openPalette(address = '/vms', options = {}) {
  const router = await openShell(address, options)
  await userEvent.keyboard('{Control>}k{/Control}')
  await waitFor(async () => expect(document.activeElement).toBe(await field()))
  return router
}

test('before anything is typed it lists open incidents, pages and actions', async () => {
  await openPalette()
  await screen.findByRole('option', { name: /^Loss at web-20/ })
  const groups = within(screen.getByRole('listbox')).getAllByRole('group')
  expect(groups.map((group) => group.firstChild?.textContent)).toEqual([
    'Open incidents',
    'Saved views',
    'Pages',
    'Actions',
  ])
  expect(screen.getByRole('option', { name: /^Silences/ })).toBeTruthy()
})

test.each([
  ['web-20 db-21', 'Paths', '/meshes/m/paths/1/2'],
  ['checkout', 'Applications', '/applications/a'],
  ['loss at', 'Open incidents', '/incidents/i'],
  ['explore', 'Pages', '/meshes/m/explore'],
  ['new rule', 'Actions', '/alert-rules/new?mesh=m'],
])('%j finds one of the %s first, and Enter opens %s', async (query, group, address) => {
  const router = await openPalette()
  await userEvent.type(await field(), query)
  await waitFor(() => expect(screen.getAllByRole('group')[0]?.firstChild?.textContent).toBe(group))
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => router.state.location.href).toBe(address)
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test('it finds the page of a laboratory only on a server that has it', async () => {
  await openPalette('/vms', { labs: ['simulations'] })
  await userEvent.type(await field(), 'lab')
  await waitFor(() => expect(screen.queryByRole('option', { name: /^Tail lab/ })).toBeNull())
  await fill(await field(), 'simulations')
  expect(await screen.findByRole('option', { name: /^Simulations/ })).toBeTruthy()
})

test('arrow keys choose a result and go round; typing starts at the first again', async () => {
  await openPalette()
  await userEvent.type(await field(), 'web')
  await screen.findByRole('option', { name: /^web-20/ })
  const [first, second] = options().map(({ textContent }) => textContent)
  expect(active()).toBe(first)
  await userEvent.keyboard('{ArrowDown}')
  expect(active()).toBe(second)
  await userEvent.keyboard('{ArrowUp}{ArrowUp}')
  expect(active()).toBe(options().at(-1)?.textContent)
  await userEvent.keyboard('{ArrowDown}')
  expect(active()).toBe(first)
  await userEvent.keyboard('{ArrowDown}-')
  expect(active()).toBe(options()[0]?.textContent)
})

test('a click opens a result', async () => {
  const router = await openPalette()
  await userEvent.type(await field(), 'db-21')
  await userEvent.click(await screen.findByRole('option', { name: /^db-21/ }))
  await expect.poll(() => router.state.location.pathname).toBe('/vms/2')
})

test('an action is done at once: the navigation collapses, the theme changes, the shortcuts are shown', async () => {
  await openPalette()
  await userEvent.keyboard('collapse{Enter}')
  expect(await screen.findByRole('button', { name: 'Expand navigation' })).toBeTruthy()
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.type(await field(), 'dark{Enter}')
  expect(document.documentElement.dataset.mantineColorScheme).toBe('dark')
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.type(await field(), 'keyboard{Enter}')
  expect(await screen.findByRole('dialog', { name: 'Keyboard shortcuts' })).toBeTruthy()
})

test('a query that finds nothing says so', async () => {
  await openPalette()
  await userEvent.type(await field(), 'qqq')
  expect(await screen.findByText('No results')).toBeTruthy()
  expect((await field()).getAttribute('aria-expanded')).toBe('false')
})
