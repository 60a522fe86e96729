import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { applicationQuery, performanceQuery, useDeleteApplication, useUpdateApplication } from '~/api/applications'
import { EditorsOnly } from '~/api/EditorsOnly'
import { movesOfQuery } from '~/api/recommendations'
import type { Application, ApplicationPerformance } from '~/api/types'
import { formatShare, formatShares, performanceBasis } from '~/lib/performance'
import type { Patch } from '~/lib/searchParams'
import { sentenceCase } from '~/lib/text'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { DeleteButton } from '~/ui/DeleteButton'
import { TextLink, WordLink } from '~/ui/links'
import { Page, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { Unloaded } from '~/ui/Unloaded'
import styles from './applications.module.css'
import { Contract } from './Contract'
import { NextVms } from './NextVms'
import { Options } from './Options'
import { PerformanceChart } from './PerformanceChart'
import type { NextSearch } from './search'
import { strings } from './strings'

const STATE_WORDS: Record<ApplicationPerformance['detail'][number]['state'], string> = {
  measured: 'measured',
  earlier: strings.earlier,
  stale: strings.stale,
  lost: strings.lost,
  no_data: strings.noData,
  no_service: strings.noService,
  estimated: strings.notMeasured,
  not_planned: strings.notMeasured,
}

interface Props {
  applicationId: string
  search: NextSearch
  onSearch: (patch: Patch<NextSearch>) => void
}

/** One application: its tasks, the current performance of each link, and its curve. */
export function ApplicationPage({ applicationId, search, onSearch }: Props) {
  const query = useQuery(applicationQuery(applicationId))
  const now = useQuery(performanceQuery(applicationId))
  const clock = useClock()
  const { data: proposal } = useQuery(movesOfQuery(query.data?.mesh.id ?? '', query.data ? [applicationId] : []))
  if (!query.data) {
    return (
      <Unloaded
        query={query}
        title={strings.application}
        what={strings.applicationLower}
        failed={strings.theApplication}
      />
    )
  }
  const application = query.data
  return (
    <Page
      title={application.name}
      lead={application.description || strings.tasksOnMesh(application.tasks.length, application.mesh.name)}
      action={
        <EditorsOnly>
          <Remove application={application} />
        </EditorsOnly>
      }
    >
      {application.curve.newest > application.curve.number && (
        <Notice tone="info">{strings.newerCurve(application.curve.number, application.curve.newest)}</Notice>
      )}
      {application.following && <Following application={application} following={application.following} />}
      <Figures application={application} now={now.data} />
      <p className={styles.next}>
        {now.data?.below_objective && (
          <span>
            {strings.findPlacements} <WordLink to="/recommendations">{strings.recommendations}</WordLink>.
          </span>
        )}
        {now.data && <WhySlow application={application} now={now.data} />}
        {proposal && (
          <WordLink to="/meshes/$meshId" params={{ meshId: application.mesh.id }} search={{ moves: proposal.id }}>
            {strings.movesOnHeatmap(proposal.moves)}
          </WordLink>
        )}
      </p>
      <PerformanceChart application={application} />
      <Contract application={application} />
      {now.data && <p className={pageStyles.lead}>{performanceBasis(now.data, clock)}</p>}
      <QueryResult query={now} what={strings.performanceLower}>
        {(performance) => <Links now={performance} />}
      </QueryResult>
      <Tasks application={application} />
      <Options applicationId={applicationId} />
      <NextVms applicationId={applicationId} search={search} onSearch={onSearch} />
    </Page>
  )
}

/** Says that the tasks follow traffic, or why they no longer do. */
function Following({
  application: { id, version },
  following: { stopped },
}: {
  application: Application
  following: NonNullable<Application['following']>
}) {
  const update = useUpdateApplication(id)
  return (
    <>
      <Notice tone="info">
        {stopped === null ? strings.follows : `${strings.followsNot} ${stopped}`}{' '}
        <EditorsOnly>
          <Button
            variant="subtle"
            size="compact-sm"
            loading={update.isPending}
            onClick={() => update.mutate({ body: { following: stopped !== null }, version })}
          >
            {stopped === null ? strings.stopFollowing : strings.followAgain}
          </Button>
        </EditorsOnly>
      </Notice>
      <ActionError error={update.error} />
    </>
  )
}

function Figures({ application, now }: { application: Application; now: ApplicationPerformance | undefined }) {
  const known = now?.performance != null
  return (
    <dl className={styles.figures}>
      <div>
        <dt>
          <Term of="performance">{strings.performanceNow}</Term>
        </dt>
        <dd className={now?.below_objective ? styles.below : undefined}>
          {known ? formatShare(now.performance) : NO_VALUE}{' '}
          {known && now.low !== null && now.low !== now.high && (
            <small>{strings.interval(...formatShares(now.low, now.high))}</small>
          )}
        </dd>
      </div>
      <div>
        <dt>
          <Term of="link">{strings.worstLink}</Term>
        </dt>
        <dd>{now?.worst == null ? NO_VALUE : formatShare(now.worst)}</dd>
      </div>
      <div>
        <dt>
          <Term of="objective">{strings.objective}</Term>
        </dt>
        <dd>{application.objective === null ? NO_VALUE : formatShare(application.objective)}</dd>
      </div>
      <div>
        <dt>{strings.linksMeasured}</dt>
        <dd>{now ? strings.countOf(now.measured, now.links) : NO_VALUE}</dd>
      </div>
      <div>
        <dt>
          <Term of="performance curve">{strings.curve}</Term>
        </dt>
        <dd>
          <TextLink size="md" to="/curves/$curveId" params={{ curveId: application.curve.id }}>
            {application.curve.name}
          </TextLink>{' '}
          <small>{strings.version(application.curve.number)}</small>
        </dd>
      </div>
    </dl>
  )
}

/** A link that keeps more of its best is not slow. */
const SLOW = 0.95

/** Leads to what slows the link with the lowest performance. */
function WhySlow({ application, now }: { application: Application; now: ApplicationPerformance }) {
  const known = now.detail.filter(({ performance }) => performance !== null)
  const [worst] = known.toSorted((one, other) => (one.performance ?? 0) - (other.performance ?? 0))
  const [source, target] = [worst?.source, worst?.target].map(
    (name) => application.tasks.find((task) => task.name === name)?.vm,
  )
  const isSlow = (worst?.performance ?? 1) < SLOW
  if (!worst || !isSlow || !source || !target || source.id === target.id) return null
  return (
    <span>
      {strings.slowestLink(worst.source, worst.target, formatDelay(worst.round_trip_ns))}{' '}
      <WordLink
        to="/meshes/$meshId/paths/$source/$target"
        params={{ meshId: application.mesh.id, source: source.id, target: target.id }}
        search={{ tab: 'why' }}
      >
        {strings.whySlow}
      </WordLink>
    </span>
  )
}

function Links({ now }: { now: ApplicationPerformance }) {
  return (
    <Records
      label={strings.links}
      rows={now.detail}
      id={(link) => `${link.source} ${link.target}`}
      columns={[
        { title: strings.from, cell: (link) => link.source },
        { title: strings.to, cell: (link) => link.target },
        { title: strings.roundTrip, term: 'round trip', cell: (link) => formatDelay(link.round_trip_ns), as: 'number' },
        { title: strings.performance, cell: (link) => formatShare(link.performance), as: 'number' },
        {
          title: strings.state,
          cell: (link) => sentenceCase(STATE_WORDS[link.state] + (link.extrapolated ? strings.extrapolated : '')),
          as: 'quiet',
        },
      ]}
    />
  )
}

function Tasks({ application }: { application: Application }) {
  return (
    <Records
      label={strings.tasks}
      rows={application.tasks}
      id={(task) => task.id}
      columns={[
        { title: strings.task, cell: (task) => task.name, as: 'head' },
        { title: strings.vm, cell: (task) => task.vm?.name ?? strings.noVm },
        {
          title: strings.role,
          term: 'root',
          cell: (task) =>
            sentenceCase([task.root && 'root', task.pinned && 'pinned'].filter(Boolean).join(', ') || 'task'),
          as: 'quiet',
        },
      ]}
    />
  )
}

function Remove({ application }: { application: Application }) {
  const navigate = useNavigate()
  const remove = useDeleteApplication()
  return (
    <DeleteButton
      name={application.name}
      id={application.id}
      doing={remove}
      onDone={() => void navigate({ to: '/applications' })}
    >
      {strings.deleteEffect}
    </DeleteButton>
  )
}
