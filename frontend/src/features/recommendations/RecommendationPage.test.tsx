import { expect, test } from 'vitest'
import type { Recommendation } from '~/api/types'
import { fireEvent, mockApi, recorded, reply, screen, showPage, visit } from '~/testing/page'
import { CarryOut } from './CarryOut'
import { basisOf } from './names'
import { RecommendationPage } from './RecommendationPage'

const RECORDED = recorded('/v1/recommendations/{recommendation_id}')
const RECOMMENDATION = {
  ...{ ...RECORDED, state: 'proposed', steps: [], outcome: null },
  request: { ...RECORDED.request, moves_max: 10, minutes: 30, risk: null },
  result: {
    ...{ ...RECORDED.result, applications: [], pareto_front: [], rejected: [], binding: null, certificate: null },
    evidence: { ...RECORDED.result?.evidence, statistic: 'p50', chosen_on: 12, judged_on: 12 },
  },
} as unknown as Recommendation

test.each([
  [0, 'No moves allowed.'],
  [10, 'No move is worthwhile.'],
])('a recommendation of none of at most %d moves says why', async (moves_max, words) => {
  mockApi({ 'GET /v1/recommendations/r': { ...RECOMMENDATION, request: { ...RECOMMENDATION.request, moves_max } } })
  await showPage(<RecommendationPage recommendationId="r" search={{}} onSearch={() => undefined} />)
  expect(await screen.findByText(/^No moves allowed|^No move is worthwhile/)).toHaveProperty('textContent', words)
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
  await visit(<CarryOut recommendationId="rrrrrrrrr" />, {
    'GET /v1/recommendations/rrrrrrrrr/plan': ({ query }) =>
      query.get('format') === 'terraform'
        ? reply(409, { code: 'plan_impossible', detail: 'Plan impossible: the move stays in its zone.' })
        : new Response(`# ${query.get('back')}`, { headers: { 'Content-Type': 'text/plain' } }),
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Carry out…' }))
  expect(await screen.findByDisplayValue('# false')).toBeTruthy()
  fireEvent.click(screen.getByLabelText('The way back'))
  expect(await screen.findByDisplayValue('# true')).toBeTruthy()
  expect(screen.getByRole('link').getAttribute('download')).toBe('moves-rrrrrrrr-back.yaml')
  fireEvent.change(screen.getByLabelText('Format'), { target: { value: 'terraform' } })
  expect(await screen.findByText(/the move stays in its zone/)).toBeTruthy()
})
