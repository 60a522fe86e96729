import { Anchor, Button, Checkbox } from '@mantine/core'
import { useState } from 'react'
import { useFollowedJob } from '~/api/jobs'
import { type OwnTenant, useExportTenant } from '~/api/members'
import { formatCount } from '~/lib/units'
import { WordLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import { strings } from './strings'

/** Export the rows of the tenant as a job, and download the archive. */
export function ExportData({ tenant }: { tenant: OwnTenant }) {
  const start = useExportTenant()
  const [measurements, setMeasurements] = useState(true)
  const job = start.data
  return (
    <Panel title={strings.exportData}>
      <p className={pageStyles.lead}>
        {strings.exportLead} {strings.exportContinuously}{' '}
        <WordLink to="/metric-exports">{strings.metricExports}</WordLink>
      </p>
      <Checkbox
        label={strings.withMeasurements}
        checked={measurements}
        onChange={({ currentTarget: { checked } }) => setMeasurements(checked)}
        mb="sm"
      />
      <Button
        variant="default"
        w="fit-content"
        onClick={() => start.mutate({ id: tenant.id, measurements })}
        loading={start.isPending}
      >
        {strings.startExport}
      </Button>
      <ActionError error={start.error} />
      {job && <Export key={job.id} jobId={job.id} />}
    </Panel>
  )
}

function Export({ jobId }: { jobId: string }) {
  const { job, error, waiting } = useFollowedJob(jobId)
  if (waiting) return <Waiting what={strings.exportLower} waiting={waiting} />
  if (job?.output) {
    return (
      <Notice tone="good">
        {strings.exportReady}{' '}
        <Anchor inherit underline="always" href={job.output.href} download={job.output.name}>
          {strings.fileAndSize(job.output.name, formatCount(job.output.size_bytes))}
        </Anchor>
      </Notice>
    )
  }
  return <ActionError error={error ?? new Error(job?.problem?.detail ?? strings.exportCancelled)} />
}
