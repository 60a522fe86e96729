import { expect, test, vi } from 'vitest'
import { bodiesOf, recorded, reply, screen, userEvent, visit } from '~/testing/page'
import { WhatIfPage } from './WhatIfPage'

const RESULT = recorded(
  '/v1/what-if',
  {
    window: { from: '2020-11-20T10:00:00Z', to: '2020-11-20T10:00:10Z' },
    ...{ applications: [], placed: [], broken: [] },
    trips: { by: 'vm', names: [], groups: [], before_ns: [], after_ns: [] },
  },
  'post',
)
const side = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1, windows: 1 })
const CACHE = {
  ...{ application: { id: 'a', name: 'cache' }, objective: 0.5, before: side(0.16), after: side(0.4) },
  gain: { before: side(0.16), after: side(0.4), gain: side(0.24), probability: 0.5, doubts: [] },
  ...{ below_objective: true, waiting: 0, beyond: 0 },
}
const MESH = {
  'GET /v1/meshes': [{ id: 'm', name: 'new' }],
  'GET /v1/meshes/m/roster': { mesh_id: 'm', revision: 1, vms: [{ name: 'a-1', zone_name: 'a' }], zones: [] },
  'GET /v1/applications': [],
  'GET /v1/scenarios': [],
  'GET /v1/curves': [],
}

/** Visit the page of that mesh, with more answers. */
const open = (answers: object, search = {}, onSearch = vi.fn()) =>
  visit(<WhatIfPage search={search} onSearch={onSearch} />, { ...MESH, ...answers })

test('performance is that of the newest windows, as on the pages of applications, and says so', async () => {
  const { sent } = await open({ 'POST /v1/what-if': { ...RESULT, applications: [CACHE] } })
  expect(
    await screen.findByText(
      'Performance is predicted at the p50 of round trips in the newest window of each path, 20 Nov 2020, 10:00:00 – 10:00:10 UTC.',
    ),
  ).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/what-if')).toMatchObject([{ statistic: 'p50', minutes: null }])
  expect(screen.getByRole('columnheader', { name: 'Interval of the curve' })).toBeTruthy()
})

test('another period is in the address, and in every caption', async () => {
  const onSearch = vi.fn()
  const answer = { ...RESULT, applications: [{ ...CACHE, after: null, gain: null }], minutes: 30, windows: 25 }
  const { sent } = await open({ 'POST /v1/what-if': answer }, { minutes: 30 }, onSearch)
  expect(await screen.findByText(/^Performance is the mean over 25 windows of the last 30 min, /)).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/what-if')).toMatchObject([{ minutes: 30 }])
  expect(screen.getByText(/not measured in this period/)).toBeTruthy()
  const period = screen.getByRole<HTMLSelectElement>('combobox', { name: /Measurements/ })
  expect([...period.options].map(({ text }) => text)).toEqual([
    'Newest windows',
    'Mean of the last 30 min',
    'Mean of the last 2 h',
    'Mean of the last 24 h',
  ])
  await userEvent.selectOptions(period, 'Newest windows')
  expect(onSearch).toHaveBeenLastCalledWith({ minutes: undefined })
})

test('a mesh without VMs has a next step instead of empty forms', async () => {
  await open({
    'GET /v1/meshes/m/roster': { mesh_id: 'm', revision: 1, vms: [], zones: [] },
    'POST /v1/what-if': RESULT,
  })
  expect(await screen.findByText('No VM in this mesh yet')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Add VM' }).getAttribute('href')).toBe('/onboarding?mesh=m')
  expect(screen.queryByRole('button', { name: 'Add latency' })).toBeNull()
})

test('a mesh without measurements is no fault: the page says what is missing, without the id of a request', async () => {
  const detail = 'No measurements: the mesh new has no window yet. Check its agents.'
  const missing = { detail, code: 'matrix_missing', request_id: 'r-1' }
  await open({ 'POST /v1/what-if': () => reply(409, missing) })
  expect((await screen.findByText(detail)).closest('[role=status]')).toBeTruthy()
  expect(screen.queryByText('r-1')).toBeNull()
  expect(screen.queryByRole('alert')).toBeNull()
})
