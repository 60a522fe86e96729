import { expect, test } from 'vitest'
import { budget, share } from '~/testing/budgets'
import { reply, screen, userEvent, visitSearch } from '~/testing/page'
import { BudgetTab } from './BudgetTab'
import { type PathSearch, pathSearch } from './search'

const item = (selection: string) =>
  budget([share('base', 180)], 132, 720, {
    ...{
      selection,
      title: selection === 'path:1:2' ? 'web → db' : 'db → web',
      provider: 'aws',
      path_class: 'same_zone',
    },
  })

const open = async () => {
  const { sent, address } = await visitSearch<PathSearch>(
    (props) => <BudgetTab {...{ meshId: 'm', source: '1', target: '2', time: {}, ...props }} />,
    pathSearch,
    {
      'GET /v1/meshes/m/latency-budgets': ({ query }) =>
        reply(200, {
          items: query.getAll('selections').map(item),
          reference: [],
          reference_source: 'UCAM-CL-TR-937',
          published_source: 'UCAM-CL-TR-937, table 4.3',
        }),
    },
  )
  return { address, query: () => sent.filter(({ to }) => to.endsWith('/latency-budgets')).at(-1)?.query }
}

test('each direction has its budget, over the range of the page', async () => {
  const { query } = await open()
  expect(await screen.findByRole('heading', { name: 'web → db' })).toBeTruthy()
  expect(screen.getByRole('heading', { name: 'db → web' })).toBeTruthy()
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query()?.get(name) ?? ''))
  expect((to as number) - (from as number)).toBe(900_000)
  expect(query()?.get('metric')).toBe('one_way_delay')
  expect(query()?.has('distance_km')).toBe(false)
})

test('round trips are one budget, and stand in the address', async () => {
  const { query, address } = await open()
  await userEvent.click(await screen.findByRole('radio', { name: 'Round trip' }))
  expect(await screen.findByRole('heading', { name: 'Round trip, web → db' })).toBeTruthy()
  expect(query()?.getAll('selections')).toEqual(['path:1:2'])
  expect(query()?.get('metric')).toBe('round_trip')
  expect(address()).toEqual({ rounds: true })
})

test('a distance is sent once it is entered, and only a valid one', async () => {
  const { query, address } = await open()
  const field = await screen.findByRole('spinbutton', { name: 'Distance, km' })
  await userEvent.type(field, '42{Enter}')
  await expect.poll(() => query()?.get('distance_km')).toBe('42')
  expect(address()).toEqual({ km: 42 })
  await userEvent.clear(field)
  await userEvent.type(field, '90000{Enter}')
  expect(screen.getByText('Enter 0 to 50,000 km.')).toBeTruthy()
  expect(address()).toEqual({ km: 42 })
  await userEvent.clear(field)
  await userEvent.tab()
  expect(address()).toEqual({})
})
