import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { workQuery } from '~/api/recommendations'
import { type BackTestResult, type RuleInput, useBackTest } from '~/api/rules'
import type { Job } from '~/api/types'
import { formatMoment, zoneName } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'

const HOURS = [
  { value: '1', label: 'hour' },
  { value: '6', label: '6 hours' },
  { value: '24', label: '24 hours' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
]

/** What the rule as it stands would have found; nothing is saved and nobody is told. */
export function BackTest({ meshId, rule }: { meshId: string; rule: RuleInput }) {
  const test = useBackTest(meshId)
  const [hours, setHours] = useState('6')
  const [asked, setAsked] = useState<{ jobId: string; rule: string } | null>(null)
  const written = JSON.stringify(rule)

  function ask() {
    // A rule may be tried before it has a name.
    const tried = { ...rule, name: rule.name || 'New rule' }
    test.mutate(
      { rule: tried, hours: Number(hours) },
      { onSuccess: ({ id }) => setAsked({ jobId: id, rule: written }) },
    )
  }

  return (
    <Panel title="Back-test">
      <div className={pageStyles.form}>
        <NativeSelect
          label="On what was measured in the last"
          value={hours}
          onChange={(event) => setHours(event.currentTarget.value)}
          data={HOURS}
        />
        <Button variant="default" onClick={ask} loading={test.isPending}>
          Try
        </Button>
      </div>
      <ActionError error={test.error} />
      {asked && <Following key={asked.jobId} jobId={asked.jobId} isOld={asked.rule !== written} />}
    </Panel>
  )
}

function Following({ jobId, isOld }: { jobId: string; isOld: boolean }) {
  const { data: job, error } = useQuery(workQuery(jobId))
  if (error) return <ActionError error={error} />
  if (!job || job.state === 'queued') return <Notice tone="info">Waiting for a worker…</Notice>
  if (job.state === 'running') {
    const done = job.progress === null ? '' : `, ${Math.round(job.progress * 100)} %`
    return <Notice tone="info">Going through the windows{done}…</Notice>
  }
  if (job.state !== 'succeeded') return <Notice tone="bad">{job.error?.detail ?? 'The job was cancelled.'}</Notice>
  return (
    <>
      {isOld && <Notice tone="warn">The rule has been changed since this was tried.</Notice>}
      <Found job={job} />
    </>
  )
}

function Found({ job }: { job: Job }) {
  const clock = useClock()
  // The result of this kind of job (docs/alerts.md).
  const { hours, by, incidents, found, notes } = job.result as unknown as BackTestResult
  const momentOf = (at: string) => `${formatMoment(new Date(at), clock)} ${zoneName(clock, new Date(at))}`
  const times =
    incidents === 0
      ? 'would not have fired'
      : `would have fired ${incidents === 1 ? 'once' : `${formatCount(incidents)} times`}`
  return (
    <>
      <Notice
        tone={incidents === 0 ? 'good' : 'info'}
        title={`It ${times} in the last ${HOURS.find(({ value }) => value === String(hours))?.label ?? `${hours} hours`}.`}
      >
        {by === 'minutes' ? 'Windows so old are not kept: it was tried by minutes. ' : ''}
        {found.length < incidents ? `The first ${found.length} are below.` : ''}
      </Notice>
      {notes.map((note) => (
        <p key={note} className={pageStyles.lead}>
          {note}
        </p>
      ))}
      {found.length > 0 && (
        <Records
          label="Incidents it would have made"
          rows={found}
          id={(one) => `${one.opened_at} ${one.culprit.words}`}
          columns={[
            { title: 'Suspect', cell: (one) => one.culprit.words, as: 'head' },
            { title: 'Opened', cell: (one) => momentOf(one.opened_at) },
            { title: 'Seen until', cell: (one) => momentOf(one.seen_at) },
            { title: 'Paths', cell: (one) => formatCount(one.paths), as: 'number' },
          ]}
        />
      )}
    </>
  )
}
