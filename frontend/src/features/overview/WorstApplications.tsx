import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EditorsOnly } from '~/api/EditorsOnly'
import type { ApplicationRanking } from '~/api/overview'
import { formatShare, NEWEST_STATISTIC, performanceAtNewest } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import styles from './overview.module.css'
import { strings } from './strings'

type Ranked = ApplicationRanking['worst'][number]

function Objective({ application: { objective, performance, below_objective } }: { application: Ranked }) {
  if (objective === null) return NO_VALUE
  if (performance === null) return formatShare(objective)
  return (
    <>
      {formatShare(objective)}{' '}
      <span className={below_objective ? styles.missed : styles.quiet}>
        {below_objective ? strings.missed : strings.met}
      </span>
    </>
  )
}

/** The applications with the lowest predicted performance; those that miss their objective first. */
export function WorstApplications({ ranking: { worst, evaluated, total } }: { ranking: ApplicationRanking }) {
  if (total === 0) {
    return (
      <p className={pageStyles.lead}>
        {strings.noApplications}{' '}
        <EditorsOnly>
          <Anchor size="sm" underline="always" renderRoot={(root) => <Link {...root} to="/applications/new" />}>
            {strings.addApplication}
          </Anchor>
        </EditorsOnly>
      </p>
    )
  }
  return (
    <>
      <Records
        label={strings.applicationTable}
        rows={worst}
        id={({ id }) => id}
        columns={[
          {
            title: strings.application,
            cell: ({ id, name }) => (
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link {...root} to="/applications/$applicationId" params={{ applicationId: id }} />
                )}
              >
                {name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: strings.performanceNow, cell: ({ performance }) => formatShare(performance), as: 'number' },
          { title: strings.objective, cell: (application) => <Objective application={application} />, as: 'number' },
        ]}
      />
      <p className={pageStyles.lead}>{performanceAtNewest(NEWEST_STATISTIC)}</p>
      {evaluated < total && (
        <p className={pageStyles.lead}>{strings.evaluatedOf(formatCount(evaluated), formatCount(total))}</p>
      )}
    </>
  )
}
