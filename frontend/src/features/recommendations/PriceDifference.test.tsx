import { expect, test } from 'vitest'
import { mockApi, recorded, screen, showPage } from '~/testing/page'
import { PriceDifference } from './PriceDifference'

const RECORDED = recorded('/v1/recommendations/{recommendation_id}/price-difference')
const [PRICED] = RECORDED.applications
const side = (vms: number, cost: number, path: string) => ({
  ...{ ...PRICED?.before, path, outbound_us: 150, inbound_us: 150, vm: 'm5.large' },
  split: { vms, serverless_per_s: 0, cost_per_hour: cost, regime: 'vm_only' },
})
const CACHE = {
  ...{ ...PRICED, application: { id: 'a', name: 'cache' }, difference_per_hour: -0.3, reason: null },
  ...{ before: side(8, 0.8, 'a-1 to b-1'), after: side(5, 0.5, 'a-1 to b-2') },
}
const REASON = 'No price basis: give the load of shop on the page Compute mix.'
const SHOP = { ...CACHE, statistic: null, before: null, after: null, difference_per_hour: null, reason: REASON }
const api = (applications: unknown[], difference_per_hour: number | null) =>
  mockApi({ 'GET /v1/recommendations/r/price-difference': { ...RECORDED, difference_per_hour, applications } })

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
