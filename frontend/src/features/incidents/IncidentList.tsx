import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { IncidentSummary } from '~/api/incidents'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Records } from '~/ui/Records'
import { strings } from './strings'
import { SEVERITIES, stateWords } from './words'

/** Incidents, newest first. */
export function IncidentList({ label, incidents }: { label: string; incidents: IncidentSummary[] }) {
  const clock = useClock()
  return (
    <Records
      label={label}
      rows={incidents}
      id={(one) => one.id}
      columns={[
        {
          title: strings.incident,
          cell: (one) => (
            <Anchor
              size="sm"
              renderRoot={(root) => <Link {...root} to="/incidents/$incidentId" params={{ incidentId: one.id }} />}
            >
              {one.title}
            </Anchor>
          ),
          as: 'head',
        },
        { title: strings.severity, cell: (one) => SEVERITIES[one.severity].word },
        { title: strings.state, cell: stateWords },
        { title: strings.mesh, cell: (one) => one.mesh.name },
        { title: strings.paths, cell: (one) => formatCount(one.paths), as: 'number' },
        { title: strings.started, cell: (one) => <Age at={one.onset_at} clock={clock} now={serverNow} /> },
        {
          title: strings.ended,
          cell: (one) => (one.ended_at ? <Age at={one.ended_at} clock={clock} now={serverNow} /> : strings.ongoing),
        },
        { title: strings.assignee, cell: (one) => one.assignee, as: 'quiet' },
      ]}
    />
  )
}
