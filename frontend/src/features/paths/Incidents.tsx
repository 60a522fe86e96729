import { serverNow } from '~/api/connection'
import { IncidentRows } from '~/ui/IncidentRows'
import { pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { usePathIncidents } from './pathIncidents'
import styles from './paths.module.css'
import { strings } from './strings'

/** The newest incidents that include a path. */
export function Incidents({ meshId, source, target }: { meshId: string; source: string; target: string }) {
  const query = usePathIncidents(meshId, source, target)
  return (
    <section className={styles.newest}>
      <h2>{strings.incidents}</h2>
      <QueryResult query={query} what={strings.incidentsLower}>
        {(rows) => {
          if (rows.length === 0) return <p className={pageStyles.quiet}>{strings.noIncidents}</p>
          return (
            <div className={pageStyles.stack}>
              <IncidentRows rows={rows} now={serverNow} />
              <p className={styles.source}>{strings.incidentsShaded}</p>
            </div>
          )
        }}
      </QueryResult>
    </section>
  )
}
