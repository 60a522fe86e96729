import { serverNow } from '~/api/connection'
import type { MeshHealth } from '~/api/overview'
import { costWords } from '~/lib/costs'
import { sentenceCase } from '~/lib/text'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { bySeverity, SEVERITIES } from '~/ui/severity'
import { PathsLink } from './links'
import { strings } from './strings'
import { isMeasured } from './verdict'

const SHOWN = 5

/** The worst open incidents of all meshes, with what they cost. */
export function OpenIncidents({ meshes }: { meshes: readonly MeshHealth[] }) {
  const clock = useClock()
  const all = meshes
    .flatMap((mesh) => mesh.worst_incidents.map((incident) => ({ mesh, incident })))
    .sort((a, b) => bySeverity(a.incident.severity, b.incident.severity)) // then in the order of each mesh: causes first
  const shown = all.slice(0, SHOWN)
  const count = meshes.reduce((sum, mesh) => sum + mesh.open_incidents, 0)
  if (shown.length === 0) {
    return <p className={pageStyles.lead}>{isMeasured(meshes) ? strings.noIncidents : strings.noIncidentsUnmeasured}</p>
  }
  return (
    <>
      <Records
        label={strings.incidentTable}
        rows={shown}
        id={({ incident }) => incident.id}
        columns={[
          {
            title: strings.incident,
            cell: ({ incident }) => (
              <TextLink size="sm" to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
                {sentenceCase(incident.title)}
              </TextLink>
            ),
            as: 'head',
          },
          { title: strings.severity, cell: ({ incident }) => SEVERITIES[incident.severity].word },
          {
            title: strings.since,
            cell: ({ incident }) => <Age at={incident.onset_at} clock={clock} now={serverNow} />,
          },
          { title: strings.mesh, cell: ({ mesh }) => mesh.name },
          {
            title: strings.paths,
            cell: ({ mesh, incident }) =>
              incident.paths > 0 ? (
                <PathsLink mesh={mesh} incident={incident}>
                  {formatCount(incident.paths)}
                </PathsLink>
              ) : (
                NO_VALUE
              ),
            as: 'number',
          },
          { title: strings.costsColumn, cell: ({ incident }) => costWords(incident) },
        ]}
      />
      {count > shown.length && <p className={pageStyles.lead}>{strings.moreIncidents(count - shown.length)}</p>}
    </>
  )
}
