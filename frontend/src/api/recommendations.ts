/** Recommendations: queries, requests and decisions. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, etagOf, everyItem, page, unwrap } from './client'
import type { RecommendationInput, RecommendationSummary } from './types'

export const recommendationsQuery = queryOptions({
  queryKey: ['recommendations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/recommendations', { params: { query: page(cursor) } }))),
})

/** A recommendation with the tag a decision must name. */
export const recommendationQuery = (recommendationId: string) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId],
    queryFn: async () => {
      const call = await client.GET('/v1/recommendations/{recommendation_id}', {
        params: { path: { recommendation_id: recommendationId } },
      })
      return { recommendation: await unwrap(Promise.resolve(call)), etag: etagOf(call.response) }
    },
  })

/** The price difference that the moves of a recommendation make, by application. */
export const priceDifferenceQuery = (recommendationId: string) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId, 'price-difference'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/recommendations/{recommendation_id}/price-difference', {
          params: { path: { recommendation_id: recommendationId } },
        }),
      ),
  })

export const accuracyQuery = queryOptions({
  queryKey: ['recommendations', 'accuracy'],
  queryFn: () => unwrap(client.GET('/v1/recommendations/accuracy')),
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
    (input: QuestionInput, key) =>
      unwrap(
        client.POST('/v1/recommendations', {
          body: { ...input, statistic: 'p50' },
          headers: once(key),
        }),
      ),
    [['jobs']],
  )

const DECISIONS = {
  accept: '/v1/recommendations/{recommendation_id}/accept',
  apply: '/v1/recommendations/{recommendation_id}/apply',
} as const

const decide = (decision: keyof typeof DECISIONS, recommendationId: string, etag: string) =>
  unwrap(
    client.POST(DECISIONS[decision], {
      params: { path: { recommendation_id: recommendationId } },
      headers: { 'If-Match': etag },
    }),
  )

const dismiss = (reason: string, recommendationId: string, etag: string) =>
  unwrap(
    client.POST('/v1/recommendations/{recommendation_id}/dismiss', {
      params: { path: { recommendation_id: recommendationId } },
      body: { reason },
      headers: { 'If-Match': etag },
    }),
  )

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
