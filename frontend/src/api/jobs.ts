/** Jobs: their list, and responses that a job computes. */

import { type QueryClient, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import { useAction } from './action'
import { client, get, post, unwrap } from './client'
import type { Job } from './types'
import { setWaiting, type Waiting } from './waiting'

const POLLS_EVERY_MS = 1_000

interface Call {
  data?: unknown
  error?: unknown
  response: Response
}

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, POLLS_EVERY_MS)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** The parts of a query's context that a request needs. */
export interface Context {
  signal: AbortSignal
  queryKey: QueryKey
  client: QueryClient
}

/** Return the response, or the output of the job that computes it. Leaving the page does not cancel the job. */
export async function responseOrOutput<T>(
  call: Promise<Call>,
  { signal, queryKey, client: cache }: Context,
  parseAs: 'json' | 'arrayBuffer' = 'json',
) {
  const { response } = await call
  const body = await unwrap(call)
  if (response.status !== 202) return body as T
  // The response to a request for bytes is bytes, also when it describes a job.
  let job = (body instanceof ArrayBuffer ? JSON.parse(new TextDecoder().decode(body)) : body) as Job
  try {
    while (job.state === 'queued' || job.state === 'running') {
      setWaiting(cache, queryKey, job)
      await pause(signal)
      job = await get('/v1/jobs/{job_id}', { path: { job_id: job.id }, signal })
    }
    if (job.state !== 'succeeded') throw new Error(job.problem?.detail ?? 'The job was cancelled.')
    const output = client.GET('/v1/jobs/{job_id}/output', { params: { path: { job_id: job.id } }, parseAs, signal })
    return (await unwrap(output as Promise<Call>)) as T
  } finally {
    setWaiting(cache, queryKey, null)
  }
}

export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: () => get('/v1/jobs', { query: { limit: 100 } }),
  refetchInterval: 2_000,
})

/** A job, requested until it has ended. */
export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['jobs', jobId, 'work'],
    queryFn: () => get('/v1/jobs/{job_id}', { path: { job_id: jobId } }),
    refetchInterval: ({ state }) =>
      state.data && ['succeeded', 'failed', 'cancelled'].includes(state.data.state) ? false : 400,
  })

export const useCancelJob = () =>
  useAction((id: string) => post('/v1/jobs/{job_id}/cancel', { path: { job_id: id } }), [['jobs']])

/** Return a job that is followed until it ends, with its progress and how to cancel it while it is open. */
export function useFollowedJob(jobId: string) {
  const { data: job, error } = useQuery(jobQuery(jobId))
  const cancel = useCancelJob()
  const isOpen = !job || job.state === 'queued' || job.state === 'running'
  const waiting: Waiting | null = isOpen
    ? {
        queued: !job || job.state === 'queued',
        progress: job?.progress ?? null,
        cancel: () => cancel.mutate(jobId),
        cancelling: cancel.isPending || (job?.cancel_requested ?? false),
        error: cancel.error,
      }
    : null
  return { job, error, waiting }
}
