import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Incident, incidentQuery } from '~/api/incidents'
import { formatShare } from '~/lib/performance'
import { type Clock, formatMoment, zoneName } from '~/lib/time'
import { formatCount, formatSignedDelay, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading, Notice } from '~/ui/State'
import { useEdits } from '../session/useEdits'
import { Decisions } from './Decisions'
import { Evidence } from './Evidence'
import { IncidentList } from './IncidentList'
import { NoteForm } from './NoteForm'
import { SEVERITIES, STATES } from './words'

/** One incident: who is suspected, what speaks for it, whom it affects, what was done. */
export function IncidentPage({ incidentId }: { incidentId: string }) {
  const read = useQuery(incidentQuery(incidentId))
  const edits = useEdits()
  const clock = useClock()
  if (read.error && !read.data) {
    return <Failed what="This incident" error={read.error} retry={() => void read.refetch()} />
  }
  if (!read.data) return <Loading what="the incident" />
  const { incident, etag } = read.data
  return (
    <Page
      title={incident.title}
      lead={
        <>
          {SEVERITIES[incident.severity].word}, {STATES[incident.state].toLowerCase()}, on{' '}
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: incident.mesh.id }} />}
          >
            {incident.mesh.name}
          </Anchor>
          .
        </>
      }
      action={edits && <Decisions incident={incident} etag={etag} />}
    >
      {incident.muted && (
        <Notice tone="info" title="Nobody was told.">
          {incident.muted}
        </Notice>
      )}
      {incident.found_late_at && (
        <Notice tone="info" title="It was over when it was found.">
          Its windows came late: it was found at {momentOf(incident.found_late_at, clock)}.
        </Notice>
      )}
      {incident.merged_into && (
        <Notice tone="info">
          It turned out to be part of{' '}
          <Link to="/incidents/$incidentId" params={{ incidentId: incident.merged_into }}>
            another incident
          </Link>
          .
        </Notice>
      )}
      <Facts incident={incident} clock={clock} />
      <Evidence incident={incident} />
      {incident.applications.length > 0 && <Affected incident={incident} />}
      <Panel title="Timeline">
        <Records
          label="Timeline"
          rows={incident.timeline}
          id={(entry) => `${entry.at} ${entry.kind} ${entry.text}`}
          columns={[
            { title: 'When', cell: ({ at }) => momentOf(at, clock) },
            { title: 'What', cell: ({ kind }) => kind.replaceAll('_', ' '), as: 'head' },
            { title: 'Who', cell: ({ actor }) => actor },
            { title: 'Words', cell: ({ text }) => text, as: 'wrap' },
          ]}
        />
        {edits && <NoteForm incidentId={incident.id} />}
      </Panel>
      {incident.similar.length > 0 && (
        <Panel title="Earlier ones like it">
          <IncidentList label="Earlier incidents" incidents={incident.similar} />
        </Panel>
      )}
    </Page>
  )
}

function momentOf(at: string, clock: Clock): string {
  const date = new Date(at)
  return `${formatMoment(date, clock)} ${zoneName(clock, date)}`
}

function Facts({ incident, clock }: { incident: Incident; clock: Clock }) {
  const { evidence } = incident
  return (
    <dl className={pageStyles.facts}>
      <div>
        <dt>Suspect</dt>
        <dd>{incident.culprit.words}</dd>
      </div>
      <div>
        <dt>Began</dt>
        <dd>{momentOf(incident.onset_at, clock)}</dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd>{incident.ended_at ? momentOf(incident.ended_at, clock) : 'goes on'}</dd>
      </div>
      <div>
        <dt>Paths</dt>
        <dd>{formatCount(evidence.paths)}</dd>
      </div>
      <div>
        <dt>Rise</dt>
        <dd>{evidence.rise_ns === null ? NO_VALUE : formatSignedDelay(evidence.rise_ns)}</dd>
      </div>
      <div>
        <dt>Rules</dt>
        <dd>{incident.rules.join(', ')}</dd>
      </div>
      <div>
        <dt>Assignee</dt>
        <dd>{incident.assignee ?? 'nobody'}</dd>
      </div>
    </dl>
  )
}

function Affected({ incident }: { incident: Incident }) {
  return (
    <Panel title="Applications on these paths">
      <Records
        label="Applications"
        rows={incident.applications}
        id={(one) => one.id}
        columns={[
          {
            title: 'Application',
            cell: (one) => (
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link {...root} to="/applications/$applicationId" params={{ applicationId: one.id }} />
                )}
              >
                {one.name}
              </Anchor>
            ),
            as: 'head',
          },
          {
            title: 'Predicted performance',
            cell: (one) => (one.performance === null ? NO_VALUE : formatShare(one.performance)),
            as: 'number',
          },
          {
            title: 'Objective',
            cell: (one) => (one.objective === null ? NO_VALUE : formatShare(one.objective)),
            as: 'number',
          },
        ]}
      />
    </Panel>
  )
}
