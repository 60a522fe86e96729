/** Studies of the tail lab: jobs, and what they found. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, unwrap } from './client'
import type { TailStudyQuestion } from './types'

const KIND = 'advisors.tail_study'

/** The newest studies, as jobs. */
export const tailStudiesQuery = queryOptions({
  queryKey: ['jobs', KIND],
  queryFn: () => unwrap(client.GET('/v1/jobs', { params: { query: { kind: KIND, limit: 10 } } })),
  refetchInterval: 2_000,
})

/** A study that has ended, which never changes. */
export const tailStudyQuery = (studyId: string) =>
  queryOptions({
    queryKey: ['tail-studies', studyId],
    queryFn: () =>
      unwrap(client.GET('/v1/advisors/tail-studies/{study_id}', { params: { path: { study_id: studyId } } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

export const useRunTailStudy = () =>
  useAction(
    (body: TailStudyQuestion, key: string) =>
      unwrap(client.POST('/v1/advisors/tail-studies', { body, headers: once(key) })),
    [['jobs']],
  )
