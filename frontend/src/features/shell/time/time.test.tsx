import { expect, test } from 'vitest'
import { openShell } from '~/testing/openShell'
import { fill, screen, userEvent, waitFor, within } from '~/testing/page'

const HEATMAP = '/meshes/m'
const PATH = '/meshes/m/paths/1/2'
const FIXED = '?tz=utc&from=2026-11-20T10:00:00.000Z&until=2026-11-20T10:30:00.000Z'

const control = () => within(screen.getByRole('group', { name: 'Time' }))
const press = (name: string | RegExp) => userEvent.click(control().getByRole('button', { name }))

async function openPicker() {
  await press(/^Time range/)
  return within(await screen.findByRole('dialog'))
}

test('pages about no time have no control of it', async () => {
  await openShell('/vms')
  expect(screen.queryByRole('group', { name: 'Time' })).toBeNull()
})

test.each([
  [HEATMAP, 'Newest windows'],
  [PATH, 'Last 15 minutes'],
  [`${PATH}?span=6h`, 'Last 6 hours'],
  [`${PATH}?span=6h&versus=day`, 'Last 6 hours vs previous day'],
  [`${PATH}${FIXED}`, '20 Nov 2026, 10:00 – 10:30 UTC'],
])('%s names its time: %s', async (address, name) => {
  await openShell(address)
  expect(control().getByRole('button', { name: `Time range: ${name}` })).toBeTruthy()
})

test('the range before, the range after, and Back', async () => {
  const router = await openShell(`${PATH}${FIXED}`)
  await press('Earlier')
  await waitFor(() => expect(router.state.location.search).toMatchObject({ until: '2026-11-20T10:00:00.000Z' }))
  await press('Later')
  await waitFor(() => expect(router.state.location.search).toMatchObject({ until: '2026-11-20T10:30:00.000Z' }))
  router.history.back()
  await waitFor(() => expect(router.state.location.search).toMatchObject({ from: '2026-11-20T09:30:00.000Z' }))
})

test('a pause fixes the range, following ends it', async () => {
  const router = await openShell(HEATMAP)
  await press('Pause')
  await waitFor(() => expect(router.state.location.search).toHaveProperty('until'))
  await press('Follow new windows')
  await waitFor(() => expect(router.state.location.search).toEqual({}))
})

test('the time goes along with every link, and the newest windows end it', async () => {
  const router = await openShell(`${PATH}?span=6h&versus=day`)
  await userEvent.click(screen.getByRole('link', { name: 'Heatmap' }))
  await screen.findByRole('heading', { name: '/meshes/$meshId' })
  expect(router.state.location.search).toEqual({ span: '6h', versus: 'day' })
  const picker = await openPicker()
  await userEvent.click(picker.getByRole('button', { name: 'Newest windows' }))
  await waitFor(() => expect(router.state.location.search).toEqual({}))
})

test('a typed range is shown; a wrong one says what would be right', async () => {
  const router = await openShell(`${PATH}?tz=utc`)
  const picker = await openPicker()
  const [from, to] = [
    picker.getByRole('textbox', { name: 'From (UTC)' }),
    picker.getByRole('textbox', { name: 'To (UTC)' }),
  ]
  await fill(from, 'yesterday')
  await userEvent.click(picker.getByRole('button', { name: 'Show range' }))
  expect(picker.getByText('Not a time. Write 2026-11-20 23:10, now, or now-2h.')).toBeTruthy()
  await fill(from, '2026-11-20 23:10')
  await fill(to, '2026-11-20 23:00')
  await userEvent.click(picker.getByRole('button', { name: 'Show range' }))
  expect(picker.getByText('From must be before To.')).toBeTruthy()
  await fill(from, '2999-01-01 00:00')
  await userEvent.click(picker.getByRole('button', { name: 'Show range' }))
  expect(router.state.location.search).toEqual({ tz: 'utc' })
  await userEvent.clear(to)
  await userEvent.type(to, '2999-01-02 00:00{Enter}')
  expect(picker.getByText('There are no measurements of the future. Choose an earlier start.')).toBeTruthy()
  await fill(from, '2026-11-20 23:10')
  await userEvent.clear(to)
  await userEvent.type(to, '2026-11-20 23:40{Enter}')
  await waitFor(() =>
    expect(router.state.location.search).toEqual({
      tz: 'utc',
      from: '2026-11-20T23:10:00.000Z',
      until: '2026-11-20T23:40:00.000Z',
    }),
  )
})

test('a copied link shows the same range to whoever opens it', async () => {
  await openShell(`${PATH}?span=1h&versus=day`)
  const user = userEvent.setup()
  const picker = await openPicker()
  await user.click(picker.getByRole('button', { name: 'Copy link to this range' }))
  const { searchParams } = new URL(await navigator.clipboard.readText())
  expect([...searchParams.keys()].sort()).toEqual(['from', 'until', 'versus'])
  const [from, until] = ['from', 'until'].map((name) => Date.parse(searchParams.get(name) ?? ''))
  expect((until as number) - (from as number)).toBe(3_600_000)
})
