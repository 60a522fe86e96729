import { expect, test } from 'vitest'
import { mockApi, reply, screen, showPage } from '~/testing/page'
import { PriceDifference } from './PriceDifference'

const side = (vms: number, cost: number, path: string) => ({
  path,
  outbound_us: 150,
  inbound_us: 150,
  budget_ms: 699.7,
  paths: 2,
  paths_measured: 2,
  vm: 'm5.large',
  split: { vms, serverless_per_s: 0, cost_per_hour: cost, regime: 'vm_only' },
  reason: null,
})
const CACHE = {
  application: { id: 'a', name: 'cache' },
  currency: 'USD',
  statistic: 'p95',
  before: side(8, 0.8, 'a-1 to b-1'),
  after: side(5, 0.5, 'a-1 to b-2'),
  difference_per_hour: -0.3,
  reason: null,
}
const REASON = 'No price basis: give the load of shop on the page Compute mix.'
const SHOP = {
  ...CACHE,
  application: { id: 'b', name: 'shop' },
  statistic: null,
  before: null,
  after: null,
  difference_per_hour: null,
  reason: REASON,
}
const api = (applications: unknown[], difference: number | null) =>
  mockApi({
    'GET /v1/recommendations/r/price-difference': () =>
      reply(200, {
        recommendation_id: 'r',
        window: {},
        currency: 'USD',
        difference_per_hour: difference,
        applications,
      }),
  })

test('both mixes, their slowest paths and the saving are shown', async () => {
  api([CACHE], -0.3)
  await showPage(<PriceDifference recommendationId="r" />)
  const rows = (await screen.findAllByRole('row')).map(({ textContent }) => textContent)
  expect(rows[1]).toContain('8 × m5.large, 0.800 USD per hour. Slowest path a-1 to b-1: 300 µs')
  expect(rows[1]).toContain('5 × m5.large, 0.500 USD per hour. Slowest path a-1 to b-2: 300 µs')
  expect(rows[1]).toContain('−0.300 USD')
  expect(screen.getByText(/change the price by −0.300 USD per hour/)).toBeTruthy()
  expect(screen.queryByRole('link')).toBeNull()
})

test('an application without a price basis says what is missing, and leads there', async () => {
  api([SHOP], null)
  await showPage(<PriceDifference recommendationId="r" />)
  expect(await screen.findByText(REASON)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Set a price basis' }).getAttribute('href')).toBe('/advisors/compute-mix')
})

test('a mix that the target rules out has its reason', async () => {
  const none = { ...CACHE.before, vm: null, split: null, reason: 'The network alone takes longer.' }
  api([{ ...CACHE, before: none, difference_per_hour: null }], null)
  await showPage(<PriceDifference recommendationId="r" />)
  expect(await screen.findByText('The network alone takes longer.')).toBeTruthy()
})
