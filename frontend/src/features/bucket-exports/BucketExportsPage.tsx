import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { type BucketExport, bucketExportsQuery, useRunBucketExport, useTestBucket } from '~/api/bucketExports'
import { useFollowedJob } from '~/api/jobs'
import { useRole } from '~/api/members'
import { metricExportsQuery } from '~/api/metricExports'
import { formatMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { useClock } from '~/ui/clock'
import { NoRows } from '~/ui/NoRows'
import { Page, Panel } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { Waiting } from '~/ui/Waiting'
import { ExportList } from './ExportList'
import { NewMetricExport } from './MetricExportForms'
import { MetricExportList } from './MetricExportList'
import { NewExport } from './NewExport'
import { strings } from './strings'

/** Exports to buckets and to monitoring, with their state; administrators add and change them. */
export function BucketExportsPage() {
  const exports = useQuery(bucketExportsQuery)
  const metrics = useQuery(metricExportsQuery)
  const role = useRole()
  const edits = useEdits()
  const test = useTestBucket()
  const run = useRunBucketExport()
  const [started, setStarted] = useState<BucketExport | null>(null)
  if (!exports.data) return <Unloaded query={exports} title={strings.title} what={strings.lower} />
  if (!metrics.data) return <Unloaded query={metrics} title={strings.title} what={strings.lower} />
  // One cause fails a scheduled export, its test and its run: its reason is shown once.
  const shown = new Set(exports.data.filter(({ state }) => state === 'failing').map(({ error }) => error))
  const manages = role === 'admin' || role === 'owner'
  return (
    <Page
      title={strings.title}
      lead={strings.lead}
      action={
        manages && (
          <Group gap="sm">
            <CreateDrawer label={strings.newExport}>{(close) => <NewExport onDone={close} />}</CreateDrawer>
            <CreateDrawer label={strings.newMetricExport} variant="default">
              {(close) => <NewMetricExport onDone={close} />}
            </CreateDrawer>
          </Group>
        )
      }
    >
      <Panel title={strings.bucketExports}>
        {exports.data
          .filter(({ state }) => state === 'failing')
          .map((row) => (
            <Failing key={row.id} row={row} />
          ))}
        <ActionError error={test.error ?? run.error} />
        {test.data && <Tested {...test.data} shown={shown} />}
        {started && run.data && <Run key={run.data.id} jobId={run.data.id} name={started.name} shown={shown} />}
        {exports.data.length === 0 ? (
          <NoRows next={manages || strings.adminOnly}>{strings.noExports}</NoRows>
        ) : (
          <ExportList
            rows={exports.data}
            edits={edits}
            manages={manages}
            onTest={test.mutate}
            onRun={(row) => run.mutate(row.id, { onSuccess: () => setStarted(row) })}
          />
        )}
      </Panel>
      <Panel title={strings.metricExports}>
        <MetricExportList rows={metrics.data} edits={edits} manages={manages} />
      </Panel>
    </Page>
  )
}

function Failing({ row }: { row: BucketExport }) {
  const clock = useClock()
  const next = row.next_at && new Date(row.next_at)
  return (
    <Notice tone="bad" title={strings.failing(row.name, row.failures)}>
      {row.error} {next && strings.retries(formatMoment(next, clock))}
    </Notice>
  )
}

interface TestedProps {
  name: string
  object_key: string
  error: string | null
  shown: ReadonlySet<string | null>
}

function Tested({ name, object_key, error, shown }: TestedProps) {
  return error === null ? (
    <Notice tone="good" title={strings.testSucceeded(name)}>
      {strings.testDetail(object_key)}
    </Notice>
  ) : (
    <Notice tone="bad" title={strings.testFailed(name)}>
      {shown.has(error) ? strings.sameReason : error}
    </Notice>
  )
}

function Run({ jobId, name, shown }: { jobId: string; name: string; shown: ReadonlySet<string | null> }) {
  const { job, error, waiting } = useFollowedJob(jobId)
  if (waiting) return <Waiting what={strings.running(name)} waiting={waiting} />
  if (job?.state === 'succeeded') {
    const { days, rows } = job.result as { days: number; rows: number }
    return <Notice tone="good">{strings.ended(name, days, formatCount(rows))}</Notice>
  }
  const reason = job?.problem?.detail ?? strings.cancelled
  if (!error && shown.has(reason)) {
    return (
      <Notice tone="bad" title={strings.runFailed(name)}>
        {strings.sameReason}
      </Notice>
    )
  }
  return <ActionError error={error ?? new Error(reason)} />
}
