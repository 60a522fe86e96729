/** The jobs that questions of this page wait for, by the key of the question: how far each is. */

import { hashKey, type QueryKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
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

/** The job a question waits for; undefined where it is answered at once. */
export function useWaitedJob(key: QueryKey): Job | undefined {
  const hash = hashKey(key)
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => jobs.get(hash),
  )
}
