/** Recommendations: queries, requests and decisions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, get, post, tagged } from './client'
import type { RecommendationInput, RecommendationSummary } from './types'

export const recommendationsQuery = queryOptions({
  queryKey: ['recommendations'],
  queryFn: () => everyItem('/v1/recommendations'),
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

/** The price difference that the moves of a recommendation make, by application. */
export const priceDifferenceQuery = (recommendationId: string) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId, 'price-difference'],
    queryFn: () =>
      get('/v1/recommendations/{recommendation_id}/price-difference', {
        path: { recommendation_id: recommendationId },
      }),
  })

export const accuracyQuery = queryOptions({
  queryKey: ['recommendations', 'accuracy'],
  queryFn: () => get('/v1/recommendations/accuracy'),
})

export type QuestionInput = Pick<
  RecommendationInput,
  | 'mesh'
  | 'policy'
  | 'objective'
  | 'risk'
  | 'moves_max'
  | 'minutes'
  | 'explain'
  | 'nomora'
  | 'artifacts'
  | 'bringing_cost'
>

export const useAskForMoves = () =>
  useAction(
    (input: QuestionInput, key) => post('/v1/recommendations', { body: { ...input, statistic: 'p50' }, key }),
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
