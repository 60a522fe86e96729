import { Anchor, Button, Progress } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { post, remove } from '~/api/client'
import { jobsQuery } from '~/api/jobs'
import { useHasRoute } from '~/api/labs'
import type { Job } from '~/api/types'
import { formatMoment, timeOf } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { ButtonLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { ActionError, Empty } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { strings } from './strings'

const STATES: Record<Job['state'], string> = {
  queued: strings.queued,
  running: strings.running,
  succeeded: strings.succeeded,
  failed: strings.failed,
  cancelled: strings.cancelled,
}

const isOpen = ({ state }: Job) => state === 'queued' || state === 'running'

/** Long-running work: progress and results. */
export function JobsPage() {
  const clock = useClock()
  const jobs = useQuery(jobsQuery)
  const cache = useQueryClient()
  const change = useMutation({
    mutationFn: (job: Job): Promise<unknown> => {
      const path = { job_id: job.id }
      return isOpen(job) ? post('/v1/jobs/{job_id}/cancel', { path }) : remove('/v1/jobs/{job_id}', { path })
    },
    onSettled: () => cache.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  })
  if (!jobs.data) return <Unloaded query={jobs} title={strings.jobs} what={strings.jobsLower} failed={strings.jobs} />
  if (jobs.data.items.length === 0) {
    return (
      <Empty
        title={strings.noJobs}
        action={
          <ButtonLink variant="default" to="/recommendations">
            {strings.findBetterPlacements}
          </ButtonLink>
        }
      >
        {strings.noJobsLead}
      </Empty>
    )
  }
  return (
    <Page title={strings.jobs} lead={strings.jobsLead}>
      {change.error && <ActionError error={change.error} />}
      <RecordList
        label={strings.jobs}
        rows={jobs.data.items}
        id={(job) => job.id}
        columns={[
          { title: strings.job, as: 'head', by: { key: 'title', value: (job) => job.title } },
          {
            title: strings.state,
            cell: (job) => <State job={job} />,
            by: { key: 'state', value: (job) => STATES[job.state], filter: true },
          },
          {
            title: strings.created,
            cell: (job) => (
              <>
                {formatMoment(new Date(job.created_at), clock)}
                <br />
                {job.requested_by}
              </>
            ),
            by: { key: 'created', value: (job) => timeOf(job.created_at) },
          },
          { title: strings.result, cell: (job) => <Result job={job} />, as: 'wrap' },
          {
            title: strings.actions,
            cell: (job) => (
              <Button
                variant="default"
                size="compact-xs"
                disabled={change.isPending || (isOpen(job) && job.cancel_requested)}
                aria-label={`${isOpen(job) ? strings.cancel : strings.delete} ${job.title}`}
                onClick={() => change.mutate(job)}
              >
                {isOpen(job) ? strings.cancel : strings.delete}
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
      {job.state === 'running' && job.cancel_requested && strings.stopping}
      {job.state === 'running' && job.progress !== null && (
        <Progress value={job.progress * 100} aria-label={strings.progressOf(job.title)} size="sm" w={140} mt={4} />
      )}
      {isOpen(job) && job.note}
    </>
  )
}

/** Link to what a succeeded job has made. */
function Resource({ job: { result } }: { job: Job }) {
  const hasRoute = useHasRoute()
  if (typeof result?.recommendation_id === 'string')
    return (
      <Link to="/recommendations/$recommendationId" params={{ recommendationId: result.recommendation_id }}>
        {strings.recommendation}
      </Link>
    )
  if (typeof result?.simulation_id === 'string' && hasRoute('/simulations'))
    return (
      <Link to="/simulations/$simulationId" params={{ simulationId: result.simulation_id }}>
        {strings.simulation}
      </Link>
    )
  if (typeof result?.study_id === 'string' && hasRoute('/advisors/tail-lab'))
    return (
      <Link to="/advisors/tail-lab" search={{ study: result.study_id }}>
        {strings.tailStudy}
      </Link>
    )
  return null
}

function Result({ job }: { job: Job }) {
  return (
    <>
      {job.output && (
        <Anchor size="sm" href={job.output.href} download={job.output.name}>
          {strings.fileAndSize(job.output.name, formatCount(job.output.size_bytes))}
        </Anchor>
      )}
      {job.state === 'succeeded' && <Resource job={job} />}
      {job.problem?.detail}
    </>
  )
}
