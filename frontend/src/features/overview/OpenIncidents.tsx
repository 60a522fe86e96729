import { serverNow } from '~/api/connection'
import type { MeshHealth } from '~/api/overview'
import { sentenceCase } from '~/lib/text'
import { formatShortMoment } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { SEVERITIES } from '~/ui/severity'
import { useNow } from '~/ui/useNow'
import { changeWords, costWords } from './costLine'
import { PathsLink } from './links'
import styles from './overview.module.css'
import { strings } from './strings'
import { isMeasured, isUntold } from './verdict'

const SHOWN = 5
const NOW_MS = 10_000

/** The worst open incidents of all meshes, the costliest first, with who was told. */
export function OpenIncidents({ meshes }: { meshes: readonly MeshHealth[] }) {
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  const shown = meshes.flatMap((mesh) => mesh.worst_incidents.map((incident) => ({ mesh, incident }))).slice(0, SHOWN)
  const count = meshes.reduce((sum, mesh) => sum + mesh.open_incidents, 0)
  if (shown.length === 0) {
    return (
      <p className={pageStyles.lead}>{isMeasured(meshes) ? strings.noOpenIncidents : strings.noIncidentsUnmeasured}</p>
    )
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
            cell: ({ incident, incident: { id, severity, title } }) => (
              <>
                <i
                  className={styles.severity}
                  data-severity={severity}
                  role="img"
                  aria-label={SEVERITIES[severity].word}
                  title={SEVERITIES[severity].word}
                />
                <TextLink to="/incidents/$incidentId" params={{ incidentId: id }}>
                  {sentenceCase(title)}
                  {changeWords(incident)}
                </TextLink>
              </>
            ),
            as: 'head',
          },
          { title: strings.since, cell: ({ incident }) => formatShortMoment(incident.onset_at, clock, now) },
          ...(meshes.length > 1
            ? [{ title: strings.mesh, cell: ({ mesh }: (typeof shown)[number]) => mesh.name }]
            : []),
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
          {
            title: strings.costsColumn,
            cell: ({ incident }) => <span title={costWords(incident)}>{costWords(incident, 1)}</span>,
          },
          {
            title: strings.told,
            cell: ({ incident }) =>
              incident.receivers_notified === null ? (
                strings.silenced
              ) : isUntold(incident, now) ? (
                <span className={styles.missed}>{strings.nobody}</span>
              ) : (
                formatCount(incident.receivers_notified)
              ),
          },
        ]}
      />
      {count > shown.length && <p className={pageStyles.lead}>{strings.moreIncidents(count - shown.length)}</p>}
    </>
  )
}
