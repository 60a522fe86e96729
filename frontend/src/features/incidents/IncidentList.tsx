import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { IncidentSummary } from '~/api/incidents'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Records } from '~/ui/Records'
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
          title: 'Incident',
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
        { title: 'Severity', cell: (one) => SEVERITIES[one.severity].word },
        { title: 'State', cell: stateWords },
        { title: 'Mesh', cell: (one) => one.mesh.name },
        { title: 'Paths', cell: (one) => formatCount(one.paths), as: 'number' },
        { title: 'Began', cell: (one) => <Age at={one.onset_at} clock={clock} now={serverNow} /> },
        {
          title: 'Ended',
          cell: (one) => (one.ended_at ? <Age at={one.ended_at} clock={clock} now={serverNow} /> : 'goes on'),
        },
        { title: 'Assignee', cell: (one) => one.assignee, as: 'quiet' },
      ]}
    />
  )
}
