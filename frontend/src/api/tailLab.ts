/** Studies of the tail lab: jobs, and what they found. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post } from './client'
import type { TailStudyQuestion } from './types'

const KIND = 'advisors.tail_study'

/** The newest studies, as jobs. */
export const tailStudiesQuery = queryOptions({
  queryKey: ['jobs', KIND],
  queryFn: () => get('/v1/jobs', { query: { kind: KIND, limit: 10 } }),
  refetchInterval: 2_000,
})

/** A study that has ended, which never changes. */
export const tailStudyQuery = (studyId: string) =>
  queryOptions({
    queryKey: ['tail-studies', studyId],
    queryFn: () => get('/v1/advisors/tail-studies/{study_id}', { path: { study_id: studyId } }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

export const useRunTailStudy = () =>
  useAction((body: TailStudyQuestion, key: string) => post('/v1/advisors/tail-studies', { body, key }), [['jobs']])
