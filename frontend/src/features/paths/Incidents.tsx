import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { SEVERITIES } from '~/ui/severity'
import { usePathIncidents } from './pathIncidents'
import styles from './paths.module.css'
import { strings } from './strings'

/** The newest incidents that include a path. */
export function Incidents({ meshId, source, target }: { meshId: string; source: string; target: string }) {
  const clock = useClock()
  const query = usePathIncidents(meshId, source, target)
  return (
    <section className={styles.newest}>
      <h2>{strings.incidents}</h2>
      <QueryResult query={query} what={strings.incidentsLower}>
        {(rows) => {
          if (rows.length === 0) return <p className={pageStyles.quiet}>{strings.noIncidents}</p>
          return (
            <div className={pageStyles.stack}>
              <Records
                label={strings.incidents}
                rows={rows}
                id={({ id }) => id}
                columns={[
                  {
                    title: strings.incident,
                    cell: ({ id, title }) => (
                      <Anchor
                        size="sm"
                        renderRoot={(root) => (
                          <Link {...root} to="/incidents/$incidentId" params={{ incidentId: id }} />
                        )}
                      >
                        {title}
                      </Anchor>
                    ),
                    as: 'head',
                  },
                  { title: strings.severity, cell: ({ severity }) => SEVERITIES[severity].word },
                  {
                    title: strings.started,
                    cell: ({ onset_at }) => <Age at={onset_at} clock={clock} now={serverNow} />,
                  },
                  {
                    title: strings.ended,
                    cell: ({ ended_at }) =>
                      ended_at ? <Age at={ended_at} clock={clock} now={serverNow} /> : strings.ongoing,
                  },
                ]}
              />
              <p className={styles.source}>{strings.incidentsShaded}</p>
            </div>
          )
        }}
      </QueryResult>
    </section>
  )
}
