import { beforeEach, expect, test } from 'vitest'
import { openShell } from '~/testing/openShell'
import { screen, userEvent, within } from '~/testing/page'

beforeEach(() => localStorage.clear())

const picker = () => screen.queryByRole<HTMLSelectElement>('combobox', { name: 'Mesh' })
const navigation = () => within(screen.getByRole('navigation', { name: 'Main' }))

test.each(['/vms', '/incidents'])('%s is about all meshes: there is no mesh to pick', async (address) => {
  await openShell(address)
  expect(picker()).toBeNull()
})

test.each([
  ['/meshes/m', '/meshes/n'],
  ['/meshes/m/explore', '/meshes/n/explore'],
  ['/meshes/m/paths/1/2', '/meshes/n'],
])('on %s another mesh opens at %s', async (address, next) => {
  const router = await openShell(address)
  expect(picker()?.value).toBe('m')
  await userEvent.selectOptions(picker() as HTMLElement, 'staging')
  await expect.poll(() => router.state.location.pathname).toBe(next)
})

test('the navigation has four groups of pages', async () => {
  await openShell('/vms')
  await screen.findByText('open')
  const namesOf = (group: string) =>
    within(navigation().getByRole('list', { name: group }))
      .getAllByRole('link')
      .map(({ textContent }) => textContent)
  expect(namesOf('Observe')).toEqual(['Overview', 'Heatmap', 'Paths', 'Incidents 1 open'])
  expect(namesOf('Improve')).toEqual(['Applications', 'Recommendations'])
  expect(namesOf('Set up')).toEqual(['Alerts', 'Inventory'])
  expect(namesOf('More')).toEqual(['Lab', 'Settings', 'Help'])
})

test.each([
  ['/', 'Overview'],
  ['/meshes/m/paths/1/2', 'Paths'],
  ['/meshes/m/explore?show=loss', 'Paths'],
  ['/vms', 'Inventory'],
])('on %s the current page is %s', async (address, name) => {
  await openShell(address)
  const current = navigation()
    .getAllByRole('link')
    .filter((link) => link.getAttribute('aria-current') === 'page')
  expect(current.map(({ textContent }) => textContent)).toEqual([name])
  expect(screen.queryByRole('navigation', { name: /^Pages of/ }) !== null).toBe(name === 'Inventory')
})

test.each(['/simulations/s', '/advisors/tail-lab'])(
  '%s is not found on a server without the laboratory',
  async (address) => {
    await openShell(address, { labs: [] })
    expect(await screen.findByRole('heading', { name: 'Page not found' })).toBeTruthy()
    expect(screen.queryByRole('heading', { name: /simulations|tail-lab/ })).toBeNull()
    expect(document.title).toBe('(1) Page not found · Sinemora')
  },
)

test('a page of a laboratory is a tab only while the server has it', async () => {
  await openShell('/advisors/tail-lab', { labs: ['tail-lab'] })
  const tabs = within(await screen.findByRole('navigation', { name: 'Pages of Lab' }))
  await expect.poll(() => tabs.queryByRole('link', { name: 'Simulations' })).toBeNull()
  const current = tabs.getByRole('link', { current: 'page' })
  expect(current.textContent).toBe('Tail lab')
})

test('the collapsed navigation keeps the names of its pages, and stays collapsed', async () => {
  const router = await openShell('/curves')
  await userEvent.click(screen.getByRole('button', { name: 'Collapse navigation' }))
  expect(screen.getByRole('button', { name: 'Expand navigation' })).toBeTruthy()
  await userEvent.click(navigation().getByRole('link', { name: 'Inventory' }))
  await expect.poll(() => router.state.location.pathname).toBe('/vms')
  expect(localStorage.getItem('sinemora-navigation-collapsed')).toBe('true')
})

const agoMs = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

test.each(['/', '/alert-rules/new'])(
  'late alerts are reported on %s, and only while they are late',
  async (address) => {
    const alerts = { evaluates: false, evaluated_at: agoMs(13), notifies: false, waiting_since: agoMs(2) }
    await openShell(address, { alerts })
    expect(
      await screen.findByText(
        /^Alert rules last evaluated at \d\d:\d\d, 13.min ago: incidents may be out of date, new ones are not detected\.$/,
      ),
    ).toBeTruthy()
    expect(
      screen.getByText(/^Notifications wait since \d\d:\d\d, for 2.min: .* receivers are not notified\.$/),
    ).toBeTruthy()
  },
)

test.each([undefined, { evaluates: true, evaluated_at: null, notifies: true, waiting_since: null }])(
  'alerts in time need no line: %j',
  async (alerts) => {
    await openShell('/', { alerts })
    expect(screen.queryByText(/^Alert rules|^Notifications wait/)).toBeNull()
  },
)
