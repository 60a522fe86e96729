/** Jobs that queries of this page wait for, in the query cache, by the key of the query. */

import { type QueryClient, type QueryKey, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useEdits } from './access'
import { post } from './client'
import type { Job } from './types'

const keyOf = (key: QueryKey) => ['waiting', ...key]

/** Store the job a query waits for; null once it has ended. */
export const setWaiting = (cache: QueryClient, key: QueryKey, job: Job | null) =>
  cache.setQueryData<Job | null>(keyOf(key), job)

/** The progress of the job a query waits for, and how to cancel it. */
export interface Waiting {
  queued: boolean
  /** From 0 to 1; null while it is not known. */
  progress: number | null
  /** Null for viewers: the API refuses them to cancel a job. */
  cancel: (() => void) | null
  cancelling: boolean
  error: Error | null
}

/** Return the job a query waits for; undefined if the response arrived directly. */
export function useWaiting(key: QueryKey): Waiting | undefined {
  const edits = useEdits()
  const { data: job } = useQuery<Job | null>({ queryKey: keyOf(key), queryFn: skipToken })
  const { mutate, isPending, error } = useMutation({
    mutationFn: (id: string) => post('/v1/jobs/{job_id}/cancel', { path: { job_id: id } }),
  })
  if (!job) return undefined
  return {
    queued: job.state === 'queued',
    progress: job.progress,
    cancel: edits ? () => mutate(job.id) : null,
    cancelling: isPending || job.cancel_requested,
    error,
  }
}
