import { Button, Progress } from '@mantine/core'
import { type QueryKey, type UseQueryResult, useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { client, unwrap } from '~/api/client'
import type { Job } from '~/api/types'
import { useWaitedJob } from '~/api/waiting'
import { ActionError, Failed, Loading } from '~/ui/State'
import styles from './explore.module.css'

/** An answer, or why there is none yet. `asked` is the key of the question, where a job may have to answer it. */
export function Answered<T>({
  query,
  asked = [],
  what,
  children,
}: {
  query: UseQueryResult<T>
  asked?: QueryKey
  what: string
  children: (answer: T) => ReactNode
}) {
  const job = useWaitedJob(asked)
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return job ? <Waiting job={job} what={what} /> : <Loading what={what} />
  return (
    <>
      {job && <Waiting job={job} what={what} />}
      <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
        {children(query.data)}
      </div>
    </>
  )
}

/** How far the job is that will answer. */
function Waiting({ job, what }: { job: Job; what: string }) {
  const cancel = useMutation({
    mutationFn: () =>
      unwrap<unknown>(client.POST('/v1/jobs/{job_id}/cancel', { params: { path: { job_id: job.id } } })),
  })
  const percent = job.progress === null ? null : Math.round(job.progress * 100)
  return (
    <section className={styles.job} aria-label={`Waiting for ${what}`}>
      <p role="status">
        This takes longer than a page waits for, so a job does it:{' '}
        {job.state === 'queued' ? 'it waits for its turn.' : `${percent === null ? 'it runs' : `${percent} % done`}.`}
      </p>
      {percent !== null && <Progress value={percent} aria-label={`Progress of ${what}`} w={260} />}
      <Button
        variant="default"
        size="compact-sm"
        disabled={cancel.isPending || job.cancel_requested}
        onClick={() => cancel.mutate()}
      >
        Cancel
      </Button>
      <ActionError error={cancel.error} />
    </section>
  )
}
