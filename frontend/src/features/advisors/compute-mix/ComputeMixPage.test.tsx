import { expect, test } from 'vitest'
import { bodiesOf, reply } from '~/testing/api'
import { type Answers, fill, recorded, screen, upload, userEvent, visitSearch, within } from '~/testing/page'
import { ComputeMixPage } from './ComputeMixPage'
import { mixSearch, numbersOf } from './question'

const split = { vms: 2, serverless_per_s: 4.5, cost_per_hour: 0.25, regime: 'mixed' }
const MIX = recorded('/v1/advisors/compute-mix', { currency: 'USD' }, 'post')
const [OPTION] = MIX.paths[0]?.options ?? []
const PATH = {
  ...{ ...MIX.paths[0], label: 'a-1 to b-1', outbound_us: 60, inbound_us: 40, budget_ms: 499.9, best: 'c5.large' },
  options: [
    {
      ...{ ...OPTION, vm: 'c5.large', utilisation_max: 0.7, saving_per_hour: 0.05, split },
      vms_alone: { ...split, vms: 3, cost_per_hour: 0.3 },
    },
  ],
}
const FAR = { ...PATH, label: 'a-1 to c-1', difference_per_hour: 0.125 }
const NONE = { ...PATH, label: 'a-1 to d-1', best: null, reason: 'The network alone takes longer.', curve: null }

const MIXED = { regime: 'mixed', price_per_busy_hour: 2.22, profit_per_hour: 1.5, split }

const open = (paths: unknown[], more: Answers = {}, equilibrium: unknown = MIXED) =>
  visitSearch(ComputeMixPage, mixSearch, {
    'POST /v1/advisors/compute-mix': () => reply(200, { ...MIX, paths }),
    'POST /v1/advisors/provider-prices': () =>
      reply(200, {
        ...recorded('/v1/advisors/provider-prices', { switch_to_mixed: 2.22, switch_to_vms: null }, 'post'),
        equilibrium,
      }),
    'GET /v1/price-lists': [],
    'POST /v1/price-lists': ({ body }) => reply(201, body),
    'GET /v1/price-list-samples': () => reply(200, []),
    'GET /v1/meshes': [],
    ...more,
  })

test('the mix names VMs and serverless, with its cost, its budget and the difference of another path', async () => {
  await open([PATH, FAR, NONE])
  expect((await screen.findAllByText('2 × c5.large, and 4.50 jobs/s to serverless')).length).toBe(2)
  expect(screen.getAllByText(/Response budget 500 ms: the target less 100 µs, the p95/).length).toBe(2)
  expect(screen.getByText(/0.125 USD per hour more than the first path/)).toBeTruthy()
  expect(screen.getByText('No mix keeps the target')).toBeTruthy()
  const table = screen.getByRole('region', { name: 'Options by VM type, a-1 to b-1' })
  expect(within(table).getByText('70.0 %')).toBeTruthy()
  expect(await screen.findByText(/Serverless only up to 2.22 USD per busy hour; VMs only above/)).toBeTruthy()
})

test('the form asks again with what was typed', async () => {
  const { sent } = await open([PATH])
  await screen.findByText('2 × c5.large, and 4.50 jobs/s to serverless')
  await fill(screen.getByLabelText('Load (jobs/s)'), '80')
  await userEvent.selectOptions(screen.getByLabelText('Target holds for'), 'mean')
  await userEvent.click(screen.getByLabelText('Serverless is an option'))
  await userEvent.type(screen.getByLabelText('Loads by hour (jobs/s)'), '1, 2 x')
  await userEvent.click(screen.getByRole('button', { name: 'Find mix' }))
  expect(screen.getByText(/Numbers of at least 0/)).toBeTruthy()
  await userEvent.type(screen.getByLabelText('Loads by hour (jobs/s)'), '{Backspace}30')
  await userEvent.click(screen.getByRole('button', { name: 'Find mix' }))
  await expect.poll(() => bodiesOf(sent, 'POST /v1/advisors/compute-mix').length).toBe(2)
  expect(bodiesOf(sent, 'POST /v1/advisors/compute-mix')[1]).toMatchObject({
    load_per_s: 80,
    target: { percentile: null },
    serverless: null,
    hourly_load_per_s: [1, 2, 30],
  })
})

test('prices of lists in the currency of the question are offered, for VMs and serverless', async () => {
  const vm = { kind: 'vm', provider: 'Azure', region: 'westeurope', name: 'D2s v5', price_per_hour: 0.105 }
  const functions = { ...vm, kind: 'serverless', name: 'Functions', price_per_gb_second: 0.00002 }
  const list = { source: null, as_of: '2026-11-01', entries: [vm, { ...functions, price_per_million_requests: 0.3 }] }
  const { sent } = await open([PATH], {
    'GET /v1/price-lists': [
      { ...list, id: 'e', name: 'Euro', currency: 'EUR' },
      { ...list, id: 'u', name: 'Dollar', currency: 'USD', entries: [vm] },
    ],
  })
  const currency = await screen.findByLabelText('Currency (ISO 4217)')
  expect((await screen.findAllByText('Entries of price lists that are not in USD are not offered: 1.')).length).toBe(2)
  await fill(currency, 'eur')
  const [ofVms, ofServerless] = await screen.findAllByLabelText('From a price list')
  await userEvent.selectOptions(ofVms as HTMLElement, 'Azure westeurope D2s v5, 0.105 per hour (Euro)')
  await userEvent.selectOptions(ofServerless as HTMLElement, 'Azure westeurope Functions, 0.00002 per GB-s (Euro)')
  await userEvent.click(screen.getByRole('button', { name: 'Find mix' }))
  expect(await screen.findByText(/0.250 EUR per hour; 0.0500 EUR less/)).toBeTruthy()
  const asked = bodiesOf(sent, 'POST /v1/advisors/compute-mix').at(-1) as Record<string, unknown[]>
  expect(asked.vm_types?.at(-1)).toMatchObject({ name: 'D2s v5', price_per_hour: 0.105 })
  expect(asked.serverless).toMatchObject({ price_per_gb_second: 0.00002, price_per_million_requests: 0.3 })
})

test('a file is imported in its currency', async () => {
  const { sent } = await open([PATH])
  const currency = await screen.findByLabelText('Currency of the file')
  await fill(currency, 'EUR')
  await upload('kind;name', 'mine.csv', 'text/csv')
  await expect.poll(() => bodiesOf(sent, 'POST /v1/price-lists')).toMatchObject([{ name: 'mine', currency: 'EUR' }])
})

test('where the provider earns most with VMs only, any price above the switch is as good', async () => {
  await open([PATH], {}, { regime: 'vm_only', price_per_busy_hour: 4.44, profit_per_hour: 1.5, split })
  expect(
    await screen.findByText(/earns most, 1.50 USD per hour, at any price above 2.22 USD per busy hour/),
  ).toBeTruthy()
})

test('numbers are typed with commas, semicolons and lines', () => {
  expect(numbersOf('1; 2\n3')).toEqual([1, 2, 3])
  expect(numbersOf('-1')).toBe(null)
})

test('the service becomes the price basis of an application, and is deleted again', async () => {
  let stored: unknown = null
  const { sent } = await open([], {
    'GET /v1/applications': [{ id: 'a', name: 'cache' }],
    'GET /v1/applications/a/price-basis': () =>
      stored ? reply(200, stored) : reply(404, { code: 'price_basis_unknown', title: 'Unknown price basis.' }),
    'PUT /v1/applications/a/price-basis': ({ body }) => {
      stored = { application: { id: 'a', name: 'cache' }, service: body, updated_at: '2026-11-26T20:00:00Z' }
      return reply(200, stored)
    },
    'DELETE /v1/applications/a/price-basis': () => {
      stored = null
      return reply(204, null)
    },
  })
  expect(await screen.findByText('No price basis yet.')).toBeTruthy()
  await userEvent.click(await screen.findByRole('button', { name: 'Use as price basis' }))
  expect(
    await screen.findByText('Price basis: 50 jobs/s, p95 500 ms, t3.medium, c5.large and serverless.'),
  ).toBeTruthy()
  expect(bodiesOf(sent, 'PUT /v1/applications/a/price-basis')[0]).not.toHaveProperty('paths')
  await userEvent.click(screen.getByRole('button', { name: 'Delete price basis' }))
  expect(await screen.findByText('No price basis yet.')).toBeTruthy()
})
