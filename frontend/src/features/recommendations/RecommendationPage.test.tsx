import { expect, test } from 'vitest'
import type { Recommendation } from '~/api/types'
import { fireEvent, mockApi, reply, screen, showPage } from '~/testing/page'
import { CarryOut } from './CarryOut'
import { basisOf } from './names'
import { RecommendationPage } from './RecommendationPage'

const EVIDENCE = {
  window: { from: '2026-11-20T10:00:00Z', to: '2026-11-20T10:30:00Z' },
  statistic: 'p50',
  chosen_on: 12,
  judged_on: 12,
  shortage: null,
  paths: 6,
  paths_known: 6,
  paths_assumed: 0,
  min_gain: 0,
}
const RECOMMENDATION = {
  id: 'r',
  mesh: { id: 'm', name: 'demo' },
  state: 'proposed',
  steps: [],
  outcome: null,
  request: { moves_max: 10, minutes: 30, risk: null },
  result: {
    policy: 'best',
    objective: 'loss',
    applications: [],
    pareto_front: [],
    constraints: ['slots of all 3 VMs', 'at most 10 moves'],
    rejected: [],
    binding: null,
    certificate: null,
    evidence: EVIDENCE,
    price_change_per_hour: null,
    network: null,
  },
} as unknown as Recommendation

async function show(request: object) {
  mockApi({ 'GET /v1/recommendations/r': { ...RECOMMENDATION, request: { ...RECOMMENDATION.request, ...request } } })
  await showPage(<RecommendationPage recommendationId="r" search={{}} onSearch={() => undefined} />)
}

test('a request without moves reads that none are allowed, not that none is worthwhile', async () => {
  await show({ moves_max: 0 })
  expect(await screen.findByText('No moves allowed.')).toBeTruthy()
  expect(screen.queryByText('No move is worthwhile.')).toBeNull()
})

test('a request with moves of which none gains reads so', async () => {
  await show({})
  expect(await screen.findByText('No move is worthwhile.')).toBeTruthy()
  expect(screen.queryByText('No moves allowed.')).toBeNull()
})

test.each([
  [{}, 'windows not used for the choice, of the last 30 min before the request, at the p50 of round trips.'],
  [{ minutes: 120 }, 'of the last 2 h before the request'],
  [{ risk: 'p99' }, 'before the request, using the p99 of the exchanges of a path.'],
])('performance before and after names its period and statistic (%#)', (request, words) => {
  const recommendation = { ...RECOMMENDATION, request: { ...RECOMMENDATION.request, ...request } }
  expect(basisOf(recommendation as Recommendation)).toContain(words)
})

test('moves are shown as a plan, with the reason where a format cannot express them', async () => {
  mockApi({
    'GET /v1/recommendations/rrrrrrrrr/plan': ({ query }) =>
      query.get('format') === 'terraform'
        ? reply(409, { code: 'plan_impossible', detail: 'Plan impossible: the move stays in its zone.' })
        : new Response(`# ${query.get('back')}`, { headers: { 'Content-Type': 'text/plain' } }),
  })
  await showPage(<CarryOut recommendationId="rrrrrrrrr" />)
  fireEvent.click(await screen.findByRole('button', { name: 'Carry out…' }))
  expect(await screen.findByDisplayValue('# false')).toBeTruthy()
  fireEvent.click(screen.getByLabelText('The way back'))
  expect(await screen.findByDisplayValue('# true')).toBeTruthy()
  expect(screen.getByRole('link').getAttribute('download')).toBe('moves-rrrrrrrr-back.yaml')
  fireEvent.change(screen.getByLabelText('Format'), { target: { value: 'terraform' } })
  expect(await screen.findByText(/the move stays in its zone/)).toBeTruthy()
})
