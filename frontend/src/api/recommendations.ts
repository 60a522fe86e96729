/** Recommendations: queries, requests and decisions. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { RecommendationInput } from './types'

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
      return { recommendation: await unwrap(Promise.resolve(call)), etag: call.response.headers.get('ETag') ?? '*' }
    },
  })

export const accuracyQuery = queryOptions({
  queryKey: ['recommendations', 'accuracy'],
  queryFn: () => unwrap(client.GET('/v1/recommendations/accuracy')),
})

/** A job, requested until it has ended. */
export const workQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['jobs', jobId, 'work'],
    queryFn: () => unwrap(client.GET('/v1/jobs/{job_id}', { params: { path: { job_id: jobId } } })),
    refetchInterval: ({ state }) =>
      state.data && ['succeeded', 'failed', 'cancelled'].includes(state.data.state) ? false : 400,
  })

export type QuestionInput = Pick<
  RecommendationInput,
  'mesh' | 'policy' | 'objective' | 'moves_max' | 'minutes' | 'explain'
>

export const useAskForMoves = () =>
  useAction(
    (input: QuestionInput, key) =>
      unwrap(
        client.POST('/v1/recommendations', {
          body: { ...input, statistic: 'p50', risk: 'cvar' },
          headers: once(key),
        }),
      ),
    [['jobs']],
  )

const DECISIONS = {
  accept: '/v1/recommendations/{recommendation_id}/accept',
  apply: '/v1/recommendations/{recommendation_id}/apply',
} as const

export const useDecide = (recommendationId: string, etag: string) =>
  useAction(
    (decision: keyof typeof DECISIONS) =>
      unwrap(
        client.POST(DECISIONS[decision], {
          params: { path: { recommendation_id: recommendationId } },
          headers: { 'If-Match': etag },
        }),
      ),
    [['recommendations'], ['applications']],
  )

export const useDismiss = (recommendationId: string, etag: string) =>
  useAction(
    (reason: string) =>
      unwrap(
        client.POST('/v1/recommendations/{recommendation_id}/dismiss', {
          params: { path: { recommendation_id: recommendationId } },
          body: { reason },
          headers: { 'If-Match': etag },
        }),
      ),
    [['recommendations']],
  )
