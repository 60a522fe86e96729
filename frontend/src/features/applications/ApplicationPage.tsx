import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeleteApplication } from '~/api/actions'
import { applicationQuery, performanceQuery } from '~/api/queries'
import type { Application, ApplicationPerformance } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { Page, pageStyles, Table } from '~/ui/Page'
import { Failed, Loading, Notice } from '~/ui/State'
import styles from './applications.module.css'

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
    <Table label="Links">
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col" className={pageStyles.number}>
            Round trip
          </th>
          <th scope="col" className={pageStyles.number}>
            Performance
          </th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {now.detail.map((link) => (
          <tr key={`${link.source} ${link.target}`}>
            <td>{link.source}</td>
            <td>{link.target}</td>
            <td className={pageStyles.number}>{formatDelay(link.round_trip_ns)}</td>
            <td className={pageStyles.number}>{formatShare(link.performance)}</td>
            <td className={pageStyles.quiet}>
              {STATE_WORDS[link.state]}
              {link.extrapolated && ', beyond what its curve knows'}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function Tasks({ application }: { application: Application }) {
  return (
    <Table label="Tasks">
      <thead>
        <tr>
          <th scope="col">Task</th>
          <th scope="col">VM</th>
          <th scope="col">Role</th>
        </tr>
      </thead>
      <tbody>
        {application.tasks.map((task) => (
          <tr key={task.id}>
            <th scope="row">{task.name}</th>
            <td>{task.vm?.name ?? 'waits for a VM'}</td>
            <td className={pageStyles.quiet}>
              {[task.root && 'root', task.pinned && 'pinned'].filter(Boolean).join(', ') || 'task'}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
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
