import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useEdits } from '~/api/access'
import { type Incident, incidentQuery } from '~/api/incidents'
import { incidentFindingsQuery } from '~/api/overview'
import { sentenceCase } from '~/lib/text'
import { type Clock, formatAge, formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { ButtonLink, TextLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Loading, Notice } from '~/ui/State'
import { SEVERITIES } from '~/ui/severity'
import { Unloaded } from '~/ui/Unloaded'
import { IncidentList } from '../IncidentList'
import { STATES } from '../incidentWords'
import { strings } from '../strings'
import { Affected } from './Affected'
import { Decisions } from './Decisions'
import { Evidence } from './Evidence'
import { Headline } from './Headline'
import { NoteForm } from './NoteForm'
import { Notifications } from './Notifications'
import { SharesPanel } from './SharesPanel'
import { ValuePanel } from './ValuePanel'
import { VerdictPanel } from './VerdictPanel'

const FindingList = lazy(() => import('~/ui/FindingList'))

/** One incident: what happens, its values over time, evidence, verdict, and who suffers and was notified. */
export function IncidentPage({ incidentId }: { incidentId: string }) {
  const read = useQuery(incidentQuery(incidentId))
  const findings = useQuery(incidentFindingsQuery(incidentId))
  const edits = useEdits()
  const clock = useClock()
  if (!read.data) {
    return <Unloaded query={read} title={strings.incident} what={strings.incidentLower} failed={strings.theIncident} />
  }
  const { incident, etag } = read.data
  return (
    <Page
      title={sentenceCase(incident.title)}
      lead={
        <>
          {strings.severityStateOn(SEVERITIES[incident.severity].word, STATES[incident.state].toLowerCase())}{' '}
          <TextLink size="sm" underline="always" to="/meshes/$meshId" params={{ meshId: incident.mesh.id }}>
            {incident.mesh.name}
          </TextLink>
          .
        </>
      }
      action={edits && <Decisions incident={incident} etag={etag} />}
    >
      {incident.silenced_by && (
        <Notice tone="info" title={strings.notificationsSilenced}>
          {incident.silenced_by}
        </Notice>
      )}
      {incident.found_late_at && (
        <Notice tone="info" title={strings.detectedLate}>
          {strings.detectedLateAt(momentOf(incident.found_late_at, clock))}
        </Notice>
      )}
      {incident.merged_into && (
        <Notice tone="info">
          {strings.mergedInto}{' '}
          <Link to="/incidents/$incidentId" params={{ incidentId: incident.merged_into }}>
            {strings.anotherIncident}
          </Link>
          .
        </Notice>
      )}
      <Headline incident={incident} />
      <ValuePanel incident={incident} />
      <SharesPanel incident={incident} />
      {incident.evidence.paths > 0 && <Evidence incident={incident} />}
      {incident.verdict && <VerdictPanel incident={incident} verdict={incident.verdict} />}
      <Affected applications={incident.applications} ended_at={incident.ended_at} />
      {findings.data && (
        <Panel title={strings.advisorFindings}>
          <Suspense fallback={<Loading what={strings.findingsLower} />}>
            <FindingList findings={findings.data} isOfIncident />
          </Suspense>
        </Panel>
      )}
      <Notifications incident={incident} />
      <Panel title={strings.providerEvidence}>
        <p className={pageStyles.lead}>{strings.providerEvidenceLead}</p>
        <div>
          <ButtonLink variant="default" to="/incidents/$incidentId/evidence" params={{ incidentId: incident.id }}>
            {strings.openEvidence}
          </ButtonLink>
        </div>
      </Panel>
      {incident.recurrence && <Occurrences incident={incident} clock={clock} />}
      {incident.similar.length > 0 && (
        <Panel title={strings.similarIncidents}>
          <IncidentList label={strings.earlierIncidents} incidents={incident.similar} />
        </Panel>
      )}
      <Facts incident={incident} clock={clock} />
      <Panel title={strings.timeline}>
        <Records
          label={strings.timeline}
          rows={incident.timeline}
          id={(entry) => `${entry.at} ${entry.kind} ${entry.text}`}
          columns={[
            { title: strings.time, cell: ({ at }) => momentOf(at, clock) },
            { title: strings.event, cell: ({ kind }) => sentenceCase(kind.replaceAll('_', ' ')), as: 'head' },
            { title: strings.actor, cell: ({ actor }) => actor },
            { title: strings.details, cell: ({ text }) => sentenceCase(text), as: 'wrap' },
          ]}
        />
        {edits && <NoteForm incidentId={incident.id} />}
      </Panel>
    </Page>
  )
}

function momentOf(at: string, clock: Clock): string {
  const date = new Date(at)
  return formatMoment(date, clock)
}

/** The times at which an incident that returns was seen, newest first. */
function Occurrences({ incident: { episodes, recurrence }, clock }: { incident: Incident; clock: Clock }) {
  return (
    <Panel title={strings.occurrences}>
      <p className={pageStyles.lead}>{strings.occurrencesLead(episodes.length, recurrence?.times ?? 1)}</p>
      <Records
        label={strings.occurrences}
        rows={episodes.toReversed()}
        id={({ started_at }) => started_at}
        columns={[
          { title: strings.started, cell: ({ started_at }) => momentOf(started_at, clock), as: 'head' },
          { title: strings.ended, cell: ({ ended_at }) => (ended_at ? momentOf(ended_at, clock) : strings.ongoing) },
          {
            title: strings.lasted,
            cell: ({ started_at, ended_at }) =>
              ended_at ? formatAge(Date.parse(ended_at) - Date.parse(started_at)) : null,
            as: 'number',
          },
        ]}
      />
    </Panel>
  )
}

function Facts({ incident, clock }: { incident: Incident; clock: Clock }) {
  return (
    <dl className={pageStyles.facts}>
      <div>
        <dt>{strings.started}</dt>
        <dd>{momentOf(incident.onset_at, clock)}</dd>
      </div>
      <div>
        <dt>{strings.ended}</dt>
        <dd>{incident.ended_at ? momentOf(incident.ended_at, clock) : strings.ongoing}</dd>
      </div>
      <div>
        <dt>{strings.rulesShort}</dt>
        <dd>{incident.rules.join(', ')}</dd>
      </div>
      <div>
        <dt>{strings.assignee}</dt>
        <dd>{incident.assignee ?? strings.unassigned}</dd>
      </div>
    </dl>
  )
}
