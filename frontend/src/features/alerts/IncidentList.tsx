import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { IncidentSummary } from '~/api/incidents'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Records } from '~/ui/Records'
import { SEVERITIES } from '~/ui/severity'
import { stateWords } from './incidentWords'
import { strings } from './strings'

/** Incidents, newest first. */
export function IncidentList({ label, incidents }: { label: string; incidents: IncidentSummary[] }) {
  const clock = useClock()
  return (
    <Records
      label={label}
      rows={incidents}
      id={(incident) => incident.id}
      columns={[
        {
          title: strings.incident,
          cell: (incident) => (
            <Anchor
              size="sm"
              renderRoot={(root) => <Link {...root} to="/incidents/$incidentId" params={{ incidentId: incident.id }} />}
            >
              {incident.title}
            </Anchor>
          ),
          as: 'head',
        },
        { title: strings.severity, cell: (incident) => SEVERITIES[incident.severity].word },
        { title: strings.state, cell: stateWords },
        { title: strings.mesh, cell: (incident) => incident.mesh.name },
        { title: strings.paths, cell: (incident) => formatCount(incident.paths), as: 'number' },
        { title: strings.started, cell: (incident) => <Age at={incident.onset_at} clock={clock} now={serverNow} /> },
        {
          title: strings.ended,
          cell: (incident) =>
            incident.ended_at ? <Age at={incident.ended_at} clock={clock} now={serverNow} /> : strings.ongoing,
        },
        { title: strings.assignee, cell: (incident) => incident.assignee, as: 'quiet' },
      ]}
    />
  )
}
