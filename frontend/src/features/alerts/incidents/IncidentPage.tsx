import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { useEdits } from '~/api/access'
import { type Incident, incidentQuery } from '~/api/incidents'
import { incidentFindingsQuery } from '~/api/overview'
import { formatPoints } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { type Clock, formatAge, formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
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
import { Headline } from './Headline'
import styles from './incidents.module.css'
import { NoteForm } from './NoteForm'
import { SilenceThis, Steps } from './Steps'
import { Suspects } from './Suspects'
import { Told } from './Told'
import { ValuePanel } from './ValuePanel'
import { verdictSentence } from './verdictWords'
import { Where } from './Where'
import { WorstPaths } from './WorstPaths'

const FindingList = lazy(() => import('~/ui/FindingList'))

/**
 * One incident. On the first screen: what happens, its values over time, suspects, costs, where, and what to do; below:
 * reasons, paths, findings, earlier times.
 */
export function IncidentPage({ incidentId }: { incidentId: string }) {
  const read = useQuery(incidentQuery(incidentId))
  const findings = useQuery(incidentFindingsQuery(incidentId))
  const edits = useEdits()
  const clock = useClock()
  if (!read.data) {
    return <Unloaded query={read} title={strings.incident} what={strings.incidentLower} failed={strings.theIncident} />
  }
  const { incident, etag } = read.data
  const { verdict, culprit, figures } = incident
  return (
    <Page
      title={sentenceCase(incident.title)}
      lead={
        <>
          {strings.severityStateOn(SEVERITIES[incident.severity].word, STATES[incident.state].toLowerCase())}{' '}
          <TextLink underline="always" to="/meshes/$meshId" params={{ meshId: incident.mesh.id }}>
            {incident.mesh.name}
          </TextLink>
          .
        </>
      }
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
      <div className={styles.screen}>
        <div className={styles.main}>
          <Headline incident={incident} />
          <ValuePanel incident={incident} />
          <div className={styles.two} data-pictured={figures.picture !== null || undefined}>
            <div className={styles.main}>
              <Part title={verdictSentence(verdict.kind, culprit.suspect)}>
                <Suspects incident={incident} />
              </Part>
              <Affected applications={incident.applications} ended_at={incident.ended_at} />
            </div>
            {figures.picture && <Where picture={figures.picture} />}
          </div>
        </div>
        <aside className={styles.aside}>
          {edits && <Decisions incident={incident} etag={etag} />}
          {edits && incident.state !== 'resolved' && <SilenceThis incident={incident} />}
          <Part title={strings.nextSteps}>
            <Steps incident={incident} />
          </Part>
          <Part title={strings.told}>
            <Told incident={incident} />
          </Part>
          <p className={pageStyles.lead}>
            {strings.rules}: {incident.rules.join(', ')}. {strings.assignee}: {incident.assignee ?? strings.unassigned}.
          </p>
        </aside>
      </div>
      <Panel title={strings.reasons}>
        <ul className={pageStyles.bullets}>
          {figures.sentences.slice(1).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {verdict.others.map(({ id, title, application, cost }) => (
            <li key={`${id} ${application}`}>
              <Link to="/incidents/$incidentId" params={{ incidentId: id }}>
                {sentenceCase(title)}
              </Link>{' '}
              {strings.costsApplication(application, formatPoints(cost))}
            </li>
          ))}
        </ul>
      </Panel>
      {incident.evidence.paths > 0 && <WorstPaths incident={incident} />}
      {findings.data && (
        <Panel title={strings.advisorFindings}>
          <Suspense fallback={<Loading what={strings.findingsLower} />}>
            <FindingList findings={findings.data} isOfIncident />
          </Suspense>
        </Panel>
      )}
      {incident.recurrence && <Occurrences incident={incident} clock={clock} />}
      {incident.similar.length > 0 && (
        <Panel title={strings.similarIncidents}>
          <IncidentList label={strings.earlierIncidents} incidents={incident.similar} />
        </Panel>
      )}
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

/** A titled part of the first screen. */
function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
