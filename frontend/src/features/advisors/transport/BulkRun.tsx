import { Button, Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { bulkRunQuery, bulkRunsQuery, useStopBulkRun } from '~/api/bulk'
import type { BulkRun as Run } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { formatDelay, NO_VALUE, threeDigits } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './bulkStrings'

type Transfer = Run['transfers'][number]

const seconds = (value: number | null | undefined) => (value == null ? NO_VALUE : formatDelay(1e9 * value))
const megabytes = (bytes: number) => threeDigits(bytes / 1e6)
const ratio = (value: number | null | undefined) => (value == null ? NO_VALUE : threeDigits(value))
const isOver = ({ status }: Run) => status !== 'waiting' && status !== 'running'

/** One run of the bulk sender: progress, result, transfers, and what it did to the measurements. */
export function BulkRun({ runId }: { runId: string }) {
  const query = useQuery(bulkRunQuery(runId))
  return (
    <Panel title={strings.run}>
      <QueryResult query={query} what={strings.runLower}>
        {(run) => (
          <div className={pageStyles.list}>
            <State run={run} />
            <Variants trial={run.trial} />
            <Transfers run={run} />
            {run.disturbance.length > 0 && <Disturbance rows={run.disturbance} />}
          </div>
        )}
      </QueryResult>
    </Panel>
  )
}

function State({ run }: { run: Run }) {
  const stop = useStopBulkRun()
  const edits = useEdits()
  if (isOver(run)) return <Result run={run} />
  const sent = strings.sent(formatShare(run.progress), megabytes(run.size_bytes))
  return (
    <>
      <p className={pageStyles.lead} role="status">
        {strings.statuses[run.status]}. {sent}.
      </p>
      <Progress value={100 * run.progress} aria-label={strings.progress} />
      {edits && (
        <div>
          <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate(run.id)}>
            {strings.stop}
          </Button>
        </div>
      )}
      <ActionError error={stop.error} />
    </>
  )
}

function Result({ run }: { run: Run }) {
  const tone = run.status === 'failed' ? 'warn' : 'info'
  return (
    <Notice tone={tone} title={strings.statuses[run.status]}>
      {run.error ?? run.trial.advice}
    </Notice>
  )
}

function Variants({ trial }: { trial: Run['trial'] }) {
  const rows = (['a', 'b'] as const).map((name) => ({ name, ...trial[name] }))
  return (
    <Records
      label={strings.variants}
      rows={rows}
      id={({ name }) => name}
      columns={[
        {
          title: strings.transport,
          cell: ({ name, transport: { congestion, connections, mptcp, tls } }) =>
            `${strings.variant[name]}: ${strings.describe(congestion ?? null, connections, [mptcp && strings.mptcp, tls && strings.tls].filter(Boolean).join(', '))}`,
          as: 'head',
        },
        { title: strings.done, cell: ({ done }) => done, as: 'number' },
        { title: strings.meanTime, cell: ({ mean_s }) => seconds(mean_s), as: 'number' },
        { title: strings.slowestTime, cell: ({ slowest_s }) => seconds(slowest_s), as: 'number' },
        { title: strings.jain, cell: ({ jain }) => ratio(jain), as: 'number' },
        { title: strings.slowestShare, cell: ({ slowest_share }) => ratio(slowest_share), as: 'number' },
      ]}
    />
  )
}

function Transfers({ run }: { run: Run }) {
  return (
    <Records
      low
      label={strings.transfers}
      rows={run.transfers}
      id={({ index }) => index}
      columns={[
        { title: strings.number, cell: ({ index, variant }) => `${index + 1} ${strings.variant[variant]}`, as: 'head' },
        { title: strings.path, cell: ({ source, target }) => strings.pathOf(source.name, target.name) },
        { title: strings.size, cell: ({ size_bytes }) => `${megabytes(size_bytes)} MB`, as: 'number' },
        { title: strings.connections, cell: ({ connections }) => connections, as: 'number' },
        {
          title: strings.measured,
          cell: ({ elapsed_s, sent_bytes, size_bytes }) =>
            elapsed_s === null && sent_bytes > 0 ? formatShare(sent_bytes / size_bytes) : seconds(elapsed_s),
          as: 'number',
        },
        {
          title: strings.rate,
          cell: ({ rate_mbit }) => (rate_mbit === null ? NO_VALUE : `${threeDigits(rate_mbit)} Mbit/s`),
          as: 'number',
        },
        { title: strings.jain, cell: ({ jain }) => ratio(jain), as: 'number' },
        ...(run.transfers.some(({ error }) => error)
          ? [{ title: strings.error, cell: ({ error }: Transfer) => error, as: 'wrap' as const }]
          : []),
      ]}
    />
  )
}

function Disturbance({ rows }: { rows: Run['disturbance'] }) {
  const delay = (us: number | null) => formatDelay(us === null ? null : 1e3 * us)
  return (
    <>
      <p className={pageStyles.lead}>{strings.disturbanceLead}</p>
      <Records
        low
        label={strings.disturbance}
        rows={rows}
        id={({ path }) => path}
        columns={[
          { title: strings.path, cell: ({ path }) => path, as: 'head' },
          { title: strings.beforeP50, cell: ({ before_p50_us }) => delay(before_p50_us), as: 'number' },
          { title: strings.duringP50, cell: ({ during_p50_us }) => delay(during_p50_us), as: 'number' },
          { title: strings.beforeP99, cell: ({ before_p99_us }) => delay(before_p99_us), as: 'number' },
          { title: strings.duringP99, cell: ({ during_p99_us }) => delay(during_p99_us), as: 'number' },
        ]}
      />
    </>
  )
}

/** The newest runs of a mesh; one is opened in the page. */
export function EarlierRuns({ mesh, onRun }: { mesh: string; onRun: (runId: string) => void }) {
  const query = useQuery(bulkRunsQuery(mesh))
  const clock = useClock()
  if (query.data?.length === 0) return null
  return (
    <Panel title={strings.earlier}>
      <QueryResult query={query} what={strings.earlierLower}>
        {(rows) => (
          <Records
            low
            label={strings.earlier}
            rows={rows}
            id={({ id }) => id}
            columns={[
              { title: strings.started, cell: ({ starts_at }) => formatMoment(new Date(starts_at), clock), as: 'head' },
              { title: strings.vms, cell: ({ vms }) => vms.map(({ name }) => name).join(', '), as: 'wrap' },
              { title: strings.status, cell: ({ status }) => strings.statuses[status] },
              {
                title: strings.open,
                cell: ({ id, starts_at }) => (
                  <button
                    type="button"
                    className={pageStyles.action}
                    aria-label={strings.openRun(formatMoment(new Date(starts_at), clock))}
                    onClick={() => onRun(id)}
                  >
                    {strings.open}
                  </button>
                ),
              },
            ]}
          />
        )}
      </QueryResult>
    </Panel>
  )
}
