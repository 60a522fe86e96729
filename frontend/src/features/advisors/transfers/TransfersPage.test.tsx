import { fireEvent, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { bodiesOf, mockApi, reply } from '~/testing/api'
import { fill } from '~/testing/fill'
import { showPage } from '~/testing/render'
import { LIST_MAX, requestOf, rowsOf, type TransferSearch, transferSearch } from './question'
import { TransfersPage } from './TransfersPage'

const PLAN = {
  bound_s: 10,
  bottleneck: 'into c',
  finish_s: 10.1,
  fair_finish_s: 12,
  gain_percent: 15.8,
  unmeasured: 2,
  transfers: [
    {
      source: 'a',
      target: 'c',
      size_bytes: 9e9,
      rate_mbit: 7200,
      connections: 9,
      connection_limit_mbit: null,
      order: 1,
      finish_s: 10.1,
      fair_finish_s: 12,
    },
  ],
}

function Harness() {
  const [search, setSearch] = useState<TransferSearch>({})
  return <TransfersPage search={search} onSearch={(question) => setSearch(transferSearch({ ...question }))} />
}

test('a list is planned; a line that is no transfer is named', async () => {
  const sent = mockApi({
    'GET /v1/meshes': () => reply(200, { items: [], next_cursor: null }),
    'POST /v1/advisors/transfer-plans': () => reply(200, PLAN),
  })
  await showPage(<Harness />)
  expect(await screen.findByText(/Done in 10.1 s with planned connections, in 12.0 s/)).toBeTruthy()
  expect(screen.getByText(/No schedule is done before 10.0 s: the link into c sets it/)).toBeTruthy()
  expect(within(screen.getByRole('region', { name: 'Planned transfers' })).getByText('7200 Mbit/s')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/transfer-plans')[0]).toMatchObject({ sort: { workers: 16, size_gb: 10 } })
  const lines = screen.getByLabelText('Source, target, MB')
  await userEvent.type(lines, 'a, c, 9000{Enter}b, c')
  await userEvent.click(screen.getByRole('button', { name: 'Plan transfers' }))
  expect(screen.getByText('Line 2 is not “source, target, megabytes” with two different ends.')).toBeTruthy()
  await userEvent.type(lines, ', 1000')
  await userEvent.click(screen.getByRole('button', { name: 'Plan transfers' }))
  await expect.poll(() => bodiesOf(sent, 'POST /v1/advisors/transfer-plans').length).toBe(2)
  expect(bodiesOf(sent, 'POST /v1/advisors/transfer-plans')[1]).toMatchObject({
    sort: null,
    transfers: [
      { source: 'a', target: 'c', size_bytes: 9e9 },
      { source: 'b', target: 'c', size_bytes: 1e9 },
    ],
  })
})

test('a list that is too long for the address is planned all the same', async () => {
  const sent = mockApi({
    'GET /v1/meshes': () => reply(200, { items: [], next_cursor: null }),
    'POST /v1/advisors/transfer-plans': () => reply(200, PLAN),
  })
  await showPage(<Harness />)
  const lines = await screen.findByLabelText('Source, target, MB')
  const host = 'analytics-worker-in-the-first-zone-of-eu-central'
  const list = (count: number) => Array.from({ length: count }, (_, at) => `${host}-${at}, ${host}-x, 5`).join('\n')
  expect(list(300).length).toBeGreaterThan(LIST_MAX)
  fireEvent.change(lines, { target: { value: list(300) } })
  await userEvent.click(screen.getByRole('button', { name: 'Plan transfers' }))
  await expect.poll(() => bodiesOf(sent, 'POST /v1/advisors/transfer-plans').length).toBe(2)
  const { sort, transfers } = bodiesOf(sent, 'POST /v1/advisors/transfer-plans')[1] as Record<string, unknown[]>
  expect([sort, transfers?.length]).toEqual([null, 300])
  expect(screen.getByText(/too long for the address/)).toBeTruthy()
  fireEvent.change(lines, { target: { value: list(601) } })
  await userEvent.click(screen.getByRole('button', { name: 'Plan transfers' }))
  expect(screen.getByText('At most 600 transfers; these are 601.')).toBeTruthy()
})

test('measured capacities of the VMs of a mesh count', async () => {
  const capacities = [{ host: 'a', direction: 'sent', gbit: 0.1, source: 'token_bucket' }]
  const sent = mockApi({
    'GET /v1/meshes': () => reply(200, { items: [{ id: 'm', name: 'demo' }], next_cursor: null }),
    'POST /v1/advisors/transfer-plans': () => reply(200, { ...PLAN, capacities }),
    'GET /v1/bulk-runs': () => reply(200, { items: [], next_cursor: null }),
    'GET /v1/meshes/m/traffic-shapes': () =>
      reply(200, [
        { vm: { id: 'a', name: 'a' }, windows: 360, shape: 'burst', idle_share: 0.72, peak_to_mean: 3.5 },
        { vm: { id: 'c', name: 'c' }, windows: 4, shape: 'unclear', idle_share: null, peak_to_mean: null },
      ]),
  })
  await showPage(<Harness />)
  // Without a list, too.
  expect(await screen.findByText(/What each VM of demo sent in the last hour/)).toBeTruthy()
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Mesh' }), 'demo')
  await fill(screen.getByLabelText('Source, target, MB'), 'a, c, 9000')
  await userEvent.click(screen.getByRole('checkbox', { name: 'Use measured capacities' }))
  await userEvent.click(screen.getByRole('button', { name: 'Plan transfers' }))
  const table = await screen.findByRole('region', { name: 'Measured capacities' })
  expect(within(table).getByText('100 Mbit/s')).toBeTruthy()
  expect(within(table).getByText('token bucket')).toBeTruthy()
  const shapes = within(await screen.findByRole('region', { name: 'Traffic of the VMs' })).getAllByRole('row')
  expect(shapes.slice(1).map((row) => row.textContent)).toEqual([
    'ain bursts, as in a sort72.0 %3.50360',
    'cunclear––4',
  ])
  expect(bodiesOf(sent, 'POST /v1/advisors/transfer-plans').at(-1)).toMatchObject({
    mesh: 'm',
    measured_capacities: true,
  })
})

test('zones need a mesh and a list', () => {
  expect(rowsOf('a,b,1\n\nb,a,x')).toBe(3)
  expect(rowsOf('a,b,1\na,a,1')).toBe(2)
  expect(requestOf({ topology: 'zones', mesh: 'm' })?.topology).toBe('two_rack')
  expect(requestOf({ topology: 'zones', mesh: 'm', list: 'a,b,1' })).toMatchObject({ topology: 'zones', mesh: 'm' })
  expect(requestOf({ list: 'a,b' })).toBe(null)
})

test('the form follows the address, as back and forward change it', async () => {
  mockApi({
    'GET /v1/meshes': () => reply(200, { items: [], next_cursor: null }),
    'POST /v1/advisors/transfer-plans': () => reply(200, PLAN),
  })
  const asked = (list: string) => <TransfersPage search={transferSearch({ list })} onSearch={() => undefined} />
  function Back() {
    const [isBack, setBack] = useState(false)
    return (
      <>
        <button type="button" onClick={() => setBack(true)}>
          Back
        </button>
        {asked(isBack ? 'a, c, 9000' : 'b, d, 1000')}
      </>
    )
  }
  await showPage(<Back />)
  const list = () => screen.getByLabelText<HTMLTextAreaElement>('Source, target, MB').value
  expect(list()).toBe('b, d, 1000')
  await userEvent.click(screen.getByRole('button', { name: 'Back' }))
  expect(list()).toBe('a, c, 9000')
})
