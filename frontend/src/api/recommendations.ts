/** Recommendations: queries, requests and decisions. */

import { queryOptions } from '@tanstack/react-query'
import { words } from '~/lib/words'
import { useAction } from './action'
import { client, get, post, tagged, unwrap } from './client'
import { listing, reading } from './query'
import type { components } from './schema.gen'
import type { RecommendationInput, RecommendationState, RecommendationSummary } from './types'

export const recommendationsQuery = listing(['recommendations'], '/v1/recommendations')

/** Proposals of a mesh that were not carried out yet, newest first. */
export const openMovesQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['recommendations', 'open', meshId],
    queryFn: async () => {
      const query = { mesh_id: meshId, state: ['proposed', 'accepted'] satisfies RecommendationState[], limit: 20 }
      const { items } = await get('/v1/recommendations', { query })
      return items.filter(({ moves }) => moves > 0)
    },
  })

/** The newest such proposal with a move of one of some applications; null when there is none. */
export const movesOfQuery = (meshId: string, applicationIds: readonly string[]) =>
  queryOptions({
    queryKey: ['recommendations', 'open', meshId, ...applicationIds],
    enabled: applicationIds.length > 0,
    queryFn: async ({ client }) => {
      for (const { id } of await client.ensureQueryData(openMovesQuery(meshId))) {
        const { recommendation } = await client.ensureQueryData(recommendationQuery(id))
        if (recommendation.steps.some(({ application }) => applicationIds.includes(application.id)))
          return recommendation
      }
      return null
    },
  })

/** A recommendation with the tag a decision must name. */
export const recommendationQuery = (recommendationId: string) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId],
    queryFn: async () => {
      const { data, etag } = await tagged('/v1/recommendations/{recommendation_id}', {
        path: { recommendation_id: recommendationId },
      })
      return { recommendation: data, etag }
    },
  })

/** The text of each state of a recommendation. */
const STATES: Record<RecommendationState, string> = {
  proposed: 'proposed',
  accepted: words.acceptedState,
  applied: words.appliedState,
  verified: 'verified',
  undone: words.undoneState,
  dismissed: 'dismissed',
  withdrawn: words.withdrawnState,
  superseded: words.supersededState,
  expired: 'expired',
}

/** Return the state of a recommendation; one without moves proposes nothing. */
export const stateOf = ({ state, moves }: Pick<RecommendationSummary, 'state' | 'moves'>): string =>
  state === 'proposed' && moves === 0 ? words.nothingToDecide : STATES[state]

/** The price difference that the moves of a recommendation make, by application. */
export const priceDifferenceQuery = (recommendationId: string) =>
  reading(
    ['recommendations', recommendationId, 'price-difference'],
    '/v1/recommendations/{recommendation_id}/price-difference',
    { path: { recommendation_id: recommendationId } },
  )

export type PlanFormat = components['schemas']['PlanFormat']

/** The moves of a recommendation as text to carry out, or the way back. */
export const planQuery = (recommendationId: string, format: PlanFormat, back: boolean) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId, 'plan', format, back],
    queryFn: () =>
      unwrap<string>(
        client.GET('/v1/recommendations/{recommendation_id}/plan', {
          params: { path: { recommendation_id: recommendationId }, query: { format, back } },
          parseAs: 'text',
        }),
      ),
  })

export const accuracyQuery = reading(['recommendations', 'accuracy'], '/v1/recommendations/accuracy')

/** A request without a look-back has that of its incident. */
export type QuestionInput = Omit<Partial<RecommendationInput>, 'mesh_id' | 'statistic'>

export const useAskForMoves = () =>
  useAction(
    (input: QuestionInput, key) =>
      post('/v1/recommendations', { body: { ...input, statistic: 'p50' } as RecommendationInput, key }),
    [['jobs']],
  )

const DECISIONS = {
  accept: '/v1/recommendations/{recommendation_id}/accept',
  apply: '/v1/recommendations/{recommendation_id}/apply',
} as const

const decide = (decision: keyof typeof DECISIONS, recommendationId: string, etag: string) =>
  post(DECISIONS[decision], { path: { recommendation_id: recommendationId }, etag })

const dismiss = (reason: string, recommendationId: string, etag: string) =>
  post('/v1/recommendations/{recommendation_id}/dismiss', {
    path: { recommendation_id: recommendationId },
    body: { reason },
    etag,
  })

export const useDecide = (recommendationId: string, etag: string) =>
  useAction(
    (decision: keyof typeof DECISIONS) => decide(decision, recommendationId, etag),
    [['recommendations'], ['applications']],
  )

export const useDismiss = (recommendationId: string, etag: string) =>
  useAction((reason: string) => dismiss(reason, recommendationId, etag), [['recommendations']])

/** A recommendation of the list, at the version it was read at. */
type Listed = Pick<RecommendationSummary, 'id' | 'version'>

export const useAcceptListed = () =>
  useAction(({ id, version }: Listed) => decide('accept', id, `"${version}"`), [['recommendations'], ['applications']])

export const useDismissListed = () =>
  useAction(({ id, version }: Listed) => dismiss('', id, `"${version}"`), [['recommendations']])
