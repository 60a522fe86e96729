import { expect, test } from 'vitest'
import { screen, showPage, userEvent, waitFor } from '~/testing/page'
import { RecordList } from './RecordList'

const zoneOf = (name: string) => (name.endsWith('0') ? 'eu-1b' : 'eu-1a')

const list = (length: number) => (
  <RecordList
    label="VMs"
    rows={Array.from({ length }, (_, n) => `web-${n}`)}
    id={(name) => name}
    columns={[
      { title: 'VM', cell: (name) => name, as: 'head', by: { key: 'name', value: (name) => name } },
      { title: 'Zone', cell: zoneOf, by: { key: 'zone', value: zoneOf, filter: true } },
    ]}
  />
)
const shown = () => screen.getAllByRole('rowheader').map(({ textContent }) => textContent)

test('a search narrows the list, and stands in the address', async () => {
  const user = userEvent.setup()
  const router = await showPage(list(120))
  expect(shown()).toHaveLength(50)
  await user.type(screen.getByRole('searchbox', { name: 'Search: VMs' }), 'web-11')
  await waitFor(() => expect(shown()).toHaveLength(11))
  expect(screen.getByRole('status').textContent).toBe('11 of 120')
  expect(router.state.location.search).toEqual({ q: 'web-11' })
  await user.type(screen.getByRole('searchbox', { name: 'Search: VMs' }), 'x')
  expect(await screen.findByText('Nothing matches “web-11x”.')).toBeTruthy()
})

test('a filter narrows the list together with the search, and stands in the address', async () => {
  const router = await showPage(list(120))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Zone' }), 'eu-1b')
  await waitFor(() => expect(shown()).toHaveLength(12))
  expect(router.state.location.search).toEqual({ where: { zone: 'eu-1b' } })
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search: VMs' }), 'web-11')
  await waitFor(() => expect(shown()).toEqual(['web-110']))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Zone' }), 'Zone: any')
  await waitFor(() => expect(shown()).toHaveLength(11))
  expect(router.state.location.search).toEqual({ q: 'web-11' })
})

test('an address opens the list as it was', async () => {
  await showPage(list(120), '/?sort=-name&page=3')
  expect(shown().at(-1)).toBe('web-0')
  expect(screen.getByRole('columnheader', { name: 'VM' }).getAttribute('aria-sort')).toBe('descending')
  expect(screen.getByText('101–120 of 120')).toBeTruthy()
})

test('pages and columns are reached by their buttons', async () => {
  const user = userEvent.setup()
  await showPage(list(120))
  await user.click(screen.getByRole('button', { name: 'Page 3' }))
  await waitFor(() => expect(shown()).toHaveLength(20))
  await user.click(screen.getByRole('button', { name: 'VM' }))
  await waitFor(() => expect(shown()[0]).toBe('web-0'))
})

test('a short list has neither search nor pages', async () => {
  await showPage(list(6))
  expect(shown()).toHaveLength(6)
  expect(screen.queryByRole('searchbox')).toBeNull()
  expect(screen.queryByRole('button', { name: 'Page 1' })).toBeNull()
})
