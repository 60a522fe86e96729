/** The jobs that questions of this page wait for, by the key of the question: how far each is. */

import { hashKey, type QueryKey, useMutation } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { client, unwrap } from './client'
import type { Job } from './types'

const jobs = new Map<string, Job>()
const listeners = new Set<() => void>()

function changed() {
  for (const listener of listeners) listener()
}

/** Tell how far the job is that answers a question. */
export function waitFor(key: QueryKey, job: Job) {
  jobs.set(hashKey(key), job)
  changed()
}

/** The question is answered, or nobody waits any more. */
export function stopWaiting(key: QueryKey) {
  if (jobs.delete(hashKey(key))) changed()
}

/** How far the job is that a question waits for, and how to end it. */
export interface Waited {
  queued: boolean
  /** From 0 to 1; null while nobody knows. */
  progress: number | null
  cancel: () => void
  cancelling: boolean
  error: Error | null
}

/** What a question waits for; undefined where it is answered at once. */
export function useWaited(key: QueryKey): Waited | undefined {
  const job = useWaitedJob(key)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (id: string) =>
      unwrap<unknown>(client.POST('/v1/jobs/{job_id}/cancel', { params: { path: { job_id: id } } })),
  })
  return (
    job && {
      queued: job.state === 'queued',
      progress: job.progress,
      cancel: () => mutate(job.id),
      cancelling: isPending || job.cancel_requested,
      error,
    }
  )
}

function useWaitedJob(key: QueryKey): Job | undefined {
  const hash = hashKey(key)
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => jobs.get(hash),
  )
}
