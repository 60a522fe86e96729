import { useQuery } from '@tanstack/react-query'
import type { Incident } from '~/api/incidents'
import { rosterQuery } from '~/api/meshes'
import type { TimeSearch } from '~/lib/spans'
import { formatCount, NO_VALUE } from '~/lib/units'
import { zoneView } from '~/lib/zoneView'
import { TextLink } from '~/ui/links'
import { Records } from '~/ui/Records'
import { strings } from '../strings'
import { linkTime } from './impactWords'

type Suspect = Incident['culprit']

const SHOWN = 3
const OF_ZONES = ['zone', 'zone_pair']

/** The suspects of an incident, the most likely first, with the paths that each explains. */
export function Suspects({ incident }: { incident: Incident }) {
  const { evidence, mesh } = incident
  const time = linkTime(incident)
  return (
    <Records
      label={strings.suspects}
      rows={evidence.hypotheses.slice(0, SHOWN)}
      id={(suspect) => suspect.words}
      columns={[
        {
          title: strings.suspect,
          cell: (suspect) => <SuspectLink meshId={mesh.id} suspect={suspect} time={time} />,
          as: 'head',
        },
        {
          title: strings.explains,
          cell: ({ explained }) =>
            explained == null ? NO_VALUE : strings.ofAffected(formatCount(explained), formatCount(evidence.paths)),
        },
        {
          title: strings.itsOwnPaths,
          cell: ({ bad, known }) => strings.affectedOf(formatCount(bad), formatCount(known)),
        },
      ]}
    />
  )
}

interface LinkProps {
  meshId: string
  suspect: Suspect
  /** The time that pages of measurements show. */
  time: TimeSearch
}

/** A link to a suspect: a VM, a path, or the part of the heatmap between two zones. */
function SuspectLink({ meshId, suspect: { suspect, at, other, words }, time }: LinkProps) {
  const isOfZones = OF_ZONES.includes(suspect)
  const roster = useQuery({ ...rosterQuery(meshId), enabled: isOfZones })
  if (!at) return words
  if (isOfZones) {
    const view = zoneView(roster.data?.zones ?? [], at.id, other?.id ?? at.id)
    return (
      <TextLink to="/meshes/$meshId" params={{ meshId }} search={view ? { ...time, view } : time}>
        {words}
      </TextLink>
    )
  }
  if (other) {
    return (
      <TextLink
        to="/meshes/$meshId/paths/$source/$target"
        params={{ meshId, source: at.id, target: other.id }}
        search={time}
      >
        {words}
      </TextLink>
    )
  }
  return (
    <TextLink to="/vms/$vmId" params={{ vmId: at.id }}>
      {words}
    </TextLink>
  )
}
