import { expect, test } from 'vitest'
import { mockApi, screen, showPage } from '~/testing/page'
import { ZoneBudget } from './ZoneBudget'

const bounded = (us: number) => ({ delay_ns: us * 1e3, low_ns: us * 1e3, high_ns: us * 1e3 })
const base = { cause: 'base', ...bounded(100) }
const parts = (queueing: number) => ({
  ...bounded(100 + queueing),
  shares: [base, { cause: 'queueing', ...bounded(queueing) }],
})

test('a zone pair shows the medians over its paths in the last hour', async () => {
  const sent = mockApi({
    'GET /v1/meshes/m/latency-budgets': {
      items: [
        {
          ...{ selection: 'zones:a:b', title: 'a → b', paths: 6, count: 9, clock_error_ns: 1_000 },
          ...{ base: { ...bounded(100), shares: [base] }, p50: parts(40), p99: parts(300) },
          ...{ separation: 'distance_unknown', base_verdict: 'within', provider: 'aws', path_class: 'between_zones' },
          published: [],
        },
      ],
      reference: [{ component: 'nic', low_ns: 804, high_ns: 985, source: 'table 2.6' }],
      published_source: 'table 4.3',
    },
  })
  await showPage(<ZoneBudget meshId="m" source="a" target="b" />)
  expect(await screen.findByText(/^Of the 140 µs at the median, .* median over 6 paths\.$/)).toBeTruthy()
  expect(screen.getByRole('region', { name: 'Latency budget' }).textContent).toContain('last hour')
  expect(screen.getByText(/No delays of AWS EC2 were published for paths like this\.$/)).toBeTruthy()
  const [asked] = sent.filter(({ to }) => to.endsWith('/latency-budgets'))
  expect(asked?.query.getAll('selections')).toEqual(['zones:a:b'])
})
