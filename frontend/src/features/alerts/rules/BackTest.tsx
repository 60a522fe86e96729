import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { jobQuery } from '~/api/jobs'
import { type BackTestResult, type RuleInput, useBackTest } from '~/api/rules'
import type { Job } from '~/api/types'
import { formatMoment } from '~/lib/time'
import { formatCount, formatWhole } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { strings } from '../strings'

const HOURS: Record<string, string> = {
  1: strings.lastHour,
  6: strings.last6Hours,
  24: strings.last24Hours,
  72: strings.last3Days,
  168: strings.sevenDays,
  720: strings.thirtyDays,
}

/** Evaluate the edited rule on stored windows; nothing is saved and no one is notified. */
export function BackTest({ meshId, rule }: { meshId: string; rule: RuleInput }) {
  const test = useBackTest(meshId)
  const [hours, setHours] = useState('6')
  const [request, setRequest] = useState<{ jobId: string; rule: string } | null>(null)
  const written = JSON.stringify(rule)

  function ask() {
    // A rule may be tried before it has a name.
    const tried = { ...rule, name: rule.name || strings.newRule }
    test.mutate(
      { rule: tried, hours: Number(hours) },
      { onSuccess: ({ id }) => setRequest({ jobId: id, rule: written }) },
    )
  }

  return (
    <Panel title={strings.backTest}>
      <div className={pageStyles.form}>
        <Choice label={strings.backTestPeriod} value={hours} onChange={setHours} data={HOURS} />
        <Button variant="default" onClick={ask} loading={test.isPending}>
          {strings.runBackTest}
        </Button>
      </div>
      <ActionError error={test.error} />
      {request && <BackTestProgress key={request.jobId} jobId={request.jobId} isOld={request.rule !== written} />}
    </Panel>
  )
}

function BackTestProgress({ jobId, isOld }: { jobId: string; isOld: boolean }) {
  const { data: job, error } = useQuery(jobQuery(jobId))
  if (error) return <ActionError error={error} />
  if (!job || job.state === 'queued') return <Notice tone="info">{strings.waitingForWorker}</Notice>
  if (job.state === 'running') {
    const done = job.progress === null ? '' : `, ${formatWhole(job.progress)}`
    return <Notice tone="info">{strings.evaluatingWindows(done)}</Notice>
  }
  if (job.state !== 'succeeded') return <Notice tone="bad">{job.problem?.detail ?? strings.jobCancelled}</Notice>
  return (
    <>
      {isOld && <Notice tone="warn">{strings.ruleChangedSince}</Notice>}
      <Found job={job} />
    </>
  )
}

function Found({ job }: { job: Job }) {
  const clock = useClock()
  // The result of this kind of job (docs/alerts.md).
  const { hours, by, incidents, found: listed, notes } = job.result as unknown as BackTestResult
  const momentOf = (at: string) => formatMoment(new Date(at), clock)
  const times =
    incidents === 0
      ? strings.wouldNotFire
      : strings.wouldFire(incidents === 1 ? strings.oneIncident : strings.incidentCount(formatCount(incidents)))
  return (
    <>
      <Notice
        tone={incidents === 0 ? 'good' : 'info'}
        title={strings.backTestResult(times, HOURS[hours] ?? strings.hours(hours))}
      >
        {by === 'minutes' ? strings.triedByMinute : ''}
        {listed.length < incidents ? strings.firstIncidents(listed.length) : ''}
      </Notice>
      {notes.map((note) => (
        <p key={note} className={pageStyles.lead}>
          {note}
        </p>
      ))}
      {listed.length > 0 && (
        <Records
          label={strings.incidentsOfBackTest}
          rows={listed}
          id={(incident) => `${incident.opened_at} ${incident.culprit.words}`}
          columns={[
            { title: strings.suspect, cell: (incident) => incident.culprit.words, as: 'head' },
            { title: strings.opened, cell: (incident) => momentOf(incident.opened_at) },
            { title: strings.lastSeen, cell: (incident) => momentOf(incident.seen_at) },
            { title: strings.paths, cell: (incident) => formatCount(incident.paths), as: 'number' },
          ]}
        />
      )}
    </>
  )
}
