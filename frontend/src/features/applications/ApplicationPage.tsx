import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { applicationQuery, performanceQuery, useDeleteApplication } from '~/api/applications'
import type { Application, ApplicationPerformance } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { Page } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading, Notice } from '~/ui/State'
import styles from './applications.module.css'
import { Options } from './Options'

const STATE_WORDS: Record<ApplicationPerformance['detail'][number]['state'], string> = {
  measured: 'measured',
  stale: 'stale: the newest window is old',
  lost: 'lost: nothing came back',
  no_data: 'no data yet',
  not_planned: 'not measured: a task waits for a VM, or nobody probes this path',
}

/** One application: its tasks, what each link keeps of its best performance now, and what it is attached to. */
export function ApplicationPage({ applicationId }: { applicationId: string }) {
  const found = useQuery(applicationQuery(applicationId))
  const now = useQuery(performanceQuery(applicationId))
  if (found.error && !found.data) {
    return <Failed what="This application" error={found.error} retry={() => void found.refetch()} />
  }
  if (!found.data) return <Loading what="the application" />
  const application = found.data
  return (
    <Page
      title={application.name}
      lead={application.description || `${application.tasks.length} tasks on ${application.mesh.name}`}
      action={<Remove application={application} />}
    >
      {now.data?.below_objective && (
        <Notice tone="warn" title="Below its objective.">
          Ask which task to move where on <Link to="/recommendations">recommendations</Link>.
        </Notice>
      )}
      {application.curve.newest > application.curve.number && (
        <Notice tone="info">
          It is attached to version {application.curve.number} of its curve; version {application.curve.newest} is
          newer.
        </Notice>
      )}
      <Figures application={application} now={now.data} />
      {now.data ? <Links now={now.data} /> : <Loading what="its performance" />}
      <Tasks application={application} />
      <Options applicationId={applicationId} />
    </Page>
  )
}

function Figures({ application, now }: { application: Application; now: ApplicationPerformance | undefined }) {
  const known = now?.performance != null
  return (
    <dl className={styles.figures}>
      <div>
        <dt>Performance now</dt>
        <dd className={now?.below_objective ? styles.below : undefined}>
          {known ? formatShare(now.performance) : NO_VALUE}{' '}
          {known && now.low !== null && now.low !== now.high && (
            <small>
              {formatShare(now.low)} to {formatShare(now.high)}
            </small>
          )}
        </dd>
      </div>
      <div>
        <dt>Worst link</dt>
        <dd>{now?.worst == null ? NO_VALUE : formatShare(now.worst)}</dd>
      </div>
      <div>
        <dt>Objective</dt>
        <dd>{application.objective === null ? NO_VALUE : formatShare(application.objective)}</dd>
      </div>
      <div>
        <dt>Links measured</dt>
        <dd>{now ? `${now.measured} of ${now.links}` : NO_VALUE}</dd>
      </div>
      <div>
        <dt>Curve</dt>
        <dd>
          <Anchor
            renderRoot={(root) => <Link {...root} to="/curves/$curveId" params={{ curveId: application.curve.id }} />}
          >
            {application.curve.name}
          </Anchor>{' '}
          <small>version {application.curve.number}</small>
        </dd>
      </div>
    </dl>
  )
}

function Links({ now }: { now: ApplicationPerformance }) {
  return (
    <Records
      label="Links"
      rows={now.detail}
      id={(link) => `${link.source} ${link.target}`}
      columns={[
        { title: 'From', cell: (link) => link.source },
        { title: 'To', cell: (link) => link.target },
        { title: 'Round trip', cell: (link) => formatDelay(link.round_trip_ns), as: 'number' },
        { title: 'Performance', cell: (link) => formatShare(link.performance), as: 'number' },
        {
          title: 'State',
          cell: (link) => STATE_WORDS[link.state] + (link.extrapolated ? ', beyond what its curve knows' : ''),
          as: 'quiet',
        },
      ]}
    />
  )
}

function Tasks({ application }: { application: Application }) {
  return (
    <Records
      label="Tasks"
      rows={application.tasks}
      id={(task) => task.id}
      columns={[
        { title: 'Task', cell: (task) => task.name, as: 'head' },
        { title: 'VM', cell: (task) => task.vm?.name ?? 'waits for a VM' },
        {
          title: 'Role',
          cell: (task) => [task.root && 'root', task.pinned && 'pinned'].filter(Boolean).join(', ') || 'task',
          as: 'quiet',
        },
      ]}
    />
  )
}

function Remove({ application }: { application: Application }) {
  const navigate = useNavigate()
  const remove = useDeleteApplication()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Delete…
      </Button>
      <Confirm
        title={`Delete ${application.name}`}
        action="Delete"
        about={asking ? application.id : null}
        doing={remove}
        onClose={() => setAsking(false)}
        onDone={() => void navigate({ to: '/applications' })}
      >
        Sinemora forgets the application; its VMs and curve stay.
      </Confirm>
    </>
  )
}
