import { Anchor, Button, Progress } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { jobsQuery } from '~/api/answers'
import { client, unwrap } from '~/api/client'
import type { Job } from '~/api/types'
import { formatMoment, zoneName } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Page } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { ActionError, Empty, Failed, Loading } from '~/ui/State'

const STATES: Record<Job['state'], string> = {
  queued: 'Waiting',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

const isOpen = ({ state }: Job) => state === 'queued' || state === 'running'

/** Long work: how far it is, what came of it. */
export function JobsPage() {
  const clock = useClock()
  const jobs = useQuery(jobsQuery)
  const cache = useQueryClient()
  const change = useMutation({
    mutationFn: (job: Job) => {
      const params = { path: { job_id: job.id } }
      return isOpen(job)
        ? unwrap<unknown>(client.POST('/v1/jobs/{job_id}/cancel', { params }))
        : unwrap<unknown>(client.DELETE('/v1/jobs/{job_id}', { params }))
    },
    onSettled: () => cache.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  })
  if (jobs.error && !jobs.data)
    return <Failed what="The list of jobs" error={jobs.error} retry={() => void jobs.refetch()} />
  if (!jobs.data) return <Loading what="jobs" />
  if (jobs.data.items.length === 0) {
    return (
      <Empty title="There is no job">
        What takes longer than a page can wait for, such as a download of many days, is done by a job and stays here for
        a while.
      </Empty>
    )
  }
  return (
    <Page title="Jobs" lead="Long work: how far it is, and what came of it. The newest hundred.">
      {change.error && <ActionError error={change.error} />}
      <Records
        label="Jobs"
        rows={jobs.data.items}
        id={(job) => job.id}
        columns={[
          { title: 'Job', cell: (job) => job.title, as: 'head' },
          { title: 'State', cell: (job) => <State job={job} /> },
          {
            title: 'Asked',
            cell: (job) => (
              <>
                {formatMoment(new Date(job.created_at), clock)} {zoneName(clock, new Date(job.created_at))}
                <br />
                {job.requested_by}
              </>
            ),
          },
          { title: 'Result', cell: (job) => <Result job={job} /> },
          {
            title: 'Actions',
            cell: (job) => (
              <Button
                variant="default"
                size="compact-xs"
                disabled={change.isPending || (isOpen(job) && job.cancel_requested)}
                aria-label={`${isOpen(job) ? 'Cancel' : 'Delete'} ${job.title}`}
                onClick={() => change.mutate(job)}
              >
                {isOpen(job) ? 'Cancel' : 'Delete'}
              </Button>
            ),
          },
        ]}
      />
    </Page>
  )
}

function State({ job }: { job: Job }) {
  return (
    <>
      {STATES[job.state]}
      {job.state === 'running' && job.cancel_requested && ', stopping'}
      {job.state === 'running' && job.progress !== null && (
        <Progress value={job.progress * 100} aria-label={`Progress of ${job.title}`} size="sm" w={140} mt={4} />
      )}
      {isOpen(job) && job.note}
    </>
  )
}

function Result({ job }: { job: Job }) {
  return (
    <>
      {job.output && (
        <Anchor size="sm" href={job.output.href} download={job.output.name}>
          {job.output.name}, {formatCount(job.output.size_bytes)} bytes
        </Anchor>
      )}
      {job.error?.detail}
    </>
  )
}
