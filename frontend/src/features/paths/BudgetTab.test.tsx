import { useState } from 'react'
import { expect, test } from 'vitest'
import { mockApi, reply, screen, showPage, userEvent } from '~/testing/page'
import { BudgetTab } from './BudgetTab'
import { type PathSearch, pathSearch } from './search'

const bounded = (delay_ns: number) => ({ delay_ns, low_ns: delay_ns, high_ns: delay_ns })
const parts = (base: number, queueing: number) => ({
  ...bounded(base + queueing),
  shares: [
    { cause: 'base', ...bounded(base) },
    { cause: 'queueing', ...bounded(queueing) },
  ],
})
const item = (selection: string) => ({
  ...{ selection, title: selection.replace('path:1:2', 'web → db').replace('path:2:1', 'db → web'), paths: 1 },
  ...{ count: 900, clock_error_ns: 4_000, separation: 'distance_unknown', base_verdict: 'within' },
  ...{ base: parts(180_000, 0), p50: parts(180_000, 132_000), p99: parts(180_000, 720_000) },
  ...{ provider: 'aws', path_class: 'same_zone', published: [] },
})

/** The tab with its address. */
function Addressed({ initial = {} }: { initial?: PathSearch }) {
  const [search, setSearch] = useState(initial)
  return (
    <>
      <BudgetTab
        {...{ meshId: 'm', source: '1', target: '2', time: {}, search }}
        onSearch={(patch) => setSearch((old) => pathSearch({ ...old, ...patch }))}
      />
      <output aria-label="address">{JSON.stringify(search)}</output>
    </>
  )
}

const open = async (initial: PathSearch = {}) => {
  const sent = mockApi({
    'GET /v1/meshes/m/latency-budgets': ({ query }) =>
      reply(200, {
        items: query.getAll('selections').map(item),
        reference: [],
        reference_source: 'UCAM-CL-TR-937',
        published_source: 'UCAM-CL-TR-937, table 4.3',
      }),
  })
  await showPage(<Addressed initial={initial} />)
  return () => sent.filter(({ to }) => to.endsWith('/latency-budgets')).at(-1)?.query
}

const address = () => JSON.parse(screen.getByRole('status', { name: 'address' }).textContent ?? '')

test('each direction has its budget, over the range of the page', async () => {
  const query = await open()
  expect(await screen.findByRole('heading', { name: 'web → db' })).toBeTruthy()
  expect(screen.getByRole('heading', { name: 'db → web' })).toBeTruthy()
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query()?.get(name) ?? ''))
  expect((to as number) - (from as number)).toBe(900_000)
  expect(query()?.get('metric')).toBe('one_way_delay')
  expect(query()?.has('distance_km')).toBe(false)
})

test('round trips are one budget, and stand in the address', async () => {
  const query = await open()
  await userEvent.click(await screen.findByRole('radio', { name: 'Round trip' }))
  expect(await screen.findByRole('heading', { name: 'Round trip, web → db' })).toBeTruthy()
  expect(query()?.getAll('selections')).toEqual(['path:1:2'])
  expect(query()?.get('metric')).toBe('round_trip')
  expect(address()).toEqual({ rounds: true })
})

test('a distance is sent once it is entered, and only a valid one', async () => {
  const query = await open()
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

test('an address names the budget', async () => {
  const query = await open(pathSearch({ tab: 'budget', rounds: true, km: '7.5' }))
  await screen.findByRole('heading', { name: 'Round trip, web → db' })
  expect(query()?.get('distance_km')).toBe('7.5')
  expect(pathSearch({ km: -1, rounds: 'yes' })).toEqual({})
})
