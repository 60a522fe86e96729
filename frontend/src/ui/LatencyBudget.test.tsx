import { expect, test } from 'vitest'
import type { LatencyBudget as Budget } from '~/lib/latencyBudget'
import { budget, share } from '~/testing/budgets'
import { rowsOf, screen, show } from '~/testing/page'
import { LatencyBudget, Reference } from './LatencyBudget'

const BUDGET = budget([share('propagation', 49), share('processing', 131)], 132, 720, {
  ...{
    title: 'web-1 → db-1',
    clock_error_ns: 5_000,
    separation: 'separated',
    provider: 'gcp',
    path_class: 'same_zone',
  },
  published: [
    { name: 'GCE-USW-1', p50_ns: 76_900, p99_ns: 120_340 },
    { name: 'GCE-EUW-1', p50_ns: 97_100, p99_ns: 1_200_000 },
  ],
})
const REFERENCE = [
  { component: 'nic' as const, low_ns: 804, high_ns: 985, source: 'table 2.6' },
  { component: 'switches' as const, low_ns: 512, high_ns: 15_000, source: 'section 4.9' },
]

const render = (budget: Budget) =>
  show(<LatencyBudget budget={budget} reference={REFERENCE} publishedSource="UCAM-CL-TR-937, table 4.3" />)

test('the table has the shares with their bounds, and what they add up to', async () => {
  render(BUDGET)
  expect(screen.getByText(/^Of the 312 µs at the median, 180 µs is the lowest delay/)).toBeTruthy()
  expect(await rowsOf('Shares of the delay, web-1 → db-1')).toEqual([
    'Propagation in fibre49.0 µs (44.0 µs to 54.0 µs)49.0 µs (44.0 µs to 54.0 µs)49.0 µs (44.0 µs to 54.0 µs)',
    'Hosts, hypervisors and switches131 µs (126 µs to 136 µs)131 µs (126 µs to 136 µs)131 µs (126 µs to 136 µs)',
    'Queueing and scheduling132 µs (127 µs to 137 µs)720 µs (715 µs to 725 µs)',
    'Measured180 µs (175 µs to 185 µs)312 µs (307 µs to 317 µs)900 µs (895 µs to 905 µs)',
  ])
})

test('the reference is named as not measured, with its source', async () => {
  show(<Reference reference={REFERENCE} source="UCAM-CL-TR-937" />)
  expect(await rowsOf('Reference, not measured here (UCAM-CL-TR-937)')).toEqual([
    'NIC and its bus804 ns to 985 nstable 2.6',
    'Switches512 ns to 15.0 µssection 4.9',
  ])
})

test('bars lie on one axis with the published extents', () => {
  const { container } = render(BUDGET)
  expect(
    screen.getByText(/p50 76\.9 µs to 97\.1 µs, p99 120 µs to 1\.20 ms, in 2 traces \(.*table 4\.3\)\.$/),
  ).toBeTruthy()
  const bars = [...container.querySelectorAll('[style*="left"]')].map((part) => part.getAttribute('style'))
  // The axis ends at the slowest published p99, 1.2 ms.
  expect(bars[2]).toBe('left: 15%; width: 11%;')
  expect(bars.at(-1)).toMatch(/^left: 10\.02\d*%; width: 89\.97\d*%;$/)
  expect(container.querySelector('[aria-hidden="true"]')?.textContent).toContain('Google Cloud, p50')
})

test.each([
  ['above', 'distance_unknown', /^The lowest delay is above the sum of the reference .* propagation over a long/],
  ['above', 'separated', /^The time in hosts, hypervisors and switches is above .* detours/],
  ['below', 'distance_unknown', /^The lowest delay is below .* share a host/],
  ['within', 'distance_too_long', /The distance is too long/],
  ['within', 'distance_not_resolved', /The clock error is too large to separate this distance/],
] as const)('a base delay %s the reference with %s is put in words', (base_verdict, separation, words) => {
  render({ ...BUDGET, base_verdict, separation })
  expect(screen.getByText(words)).toBeTruthy()
})

test('a provider without published traces is named', () => {
  render({ ...BUDGET, provider: 'aws', path_class: 'between_regions', published: [] })
  expect(screen.getByText(/No delays of AWS EC2 were published for paths like this\./)).toBeTruthy()
})

test('without delays it says so', () => {
  render({ ...BUDGET, base: null, p50: null, p99: null, base_verdict: null, paths: 0 })
  expect(screen.getByText('No measurements in this range. Choose a longer range.')).toBeTruthy()
})
