import type { Incident } from '~/api/incidents'
import { formatPoints, formatShare } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { applicationColumn } from '~/ui/applicationColumn'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from '../strings'
import styles from './incidents.module.css'

/** The applications on the paths of an incident, with the performance lost on these paths that their curves predict: now, or the most. */
export function Affected({ applications, ended_at }: Pick<Incident, 'applications' | 'ended_at'>) {
  return (
    <section className={styles.part}>
      <h2>{strings.affectedApplications}</h2>
      {applications.length === 0 ? (
        <p className={pageStyles.lead}>{strings.noApplicationsAffected}</p>
      ) : (
        <Records
          label={strings.applications}
          rows={applications}
          id={(application) => application.id}
          columns={[
            applicationColumn,
            {
              title: ended_at === null ? strings.lostOnThesePaths : strings.mostLost,
              term: 'performance lost',
              cell: ({ cost }) => formatPoints(cost),
              as: 'number',
            },
            {
              title: strings.predictedPerformance,
              cell: ({ performance }) => (performance === null ? NO_VALUE : formatShare(performance)),
              as: 'number',
            },
            {
              title: strings.objective,
              term: 'objective',
              cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
              as: 'number',
            },
          ]}
        />
      )}
    </section>
  )
}
