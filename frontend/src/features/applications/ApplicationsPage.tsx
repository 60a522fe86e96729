import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { applicationsQuery } from '~/api/applications'
import { EditorsOnly } from '~/api/EditorsOnly'
import { type ApplicationRanking, allRankedQuery } from '~/api/overview'
import { Day } from '~/charts/sparkline/Day'
import { dayOf, formatShare, NEWEST_STATISTIC, performanceAtNewest } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { ButtonLink, TextLink } from '~/ui/links'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Empty } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import styles from './applications.module.css'
import { strings } from './strings'

const addApplication = (
  <EditorsOnly>
    <ButtonLink to="/applications/new">{strings.addApplication}</ButtonLink>
  </EditorsOnly>
)

/** Applications, and their performance at the newest round trips. */
export function ApplicationsPage() {
  const applications = useQuery(applicationsQuery)
  const { data: ranking } = useQuery(allRankedQuery)
  const ranked = useMemo(() => new Map(ranking?.worst.map((one) => [one.id, one])), [ranking])
  if (!applications.data) {
    return (
      <Unloaded
        query={applications}
        title={strings.applications}
        what={strings.applicationsLower}
        failed={strings.applications}
      />
    )
  }
  if (applications.data.length === 0) {
    return (
      <Empty title={strings.noApplications} action={addApplication}>
        {strings.noApplicationsLead}
      </Empty>
    )
  }
  return (
    <Page
      title={strings.applications}
      lead={`${strings.applicationsLead} ${performanceAtNewest(NEWEST_STATISTIC)}`}
      action={addApplication}
    >
      <RecordList
        label={strings.applications}
        rows={applications.data}
        id={(application) => application.id}
        columns={[
          {
            title: strings.application,
            cell: (application) => (
              <TextLink to="/applications/$applicationId" params={{ applicationId: application.id }}>
                {application.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (application) => application.name },
          },
          { title: strings.mesh, by: { key: 'mesh', value: (application) => application.mesh.name, filter: true } },
          { title: strings.curve, by: { key: 'curve', value: (application) => application.curve.name } },
          {
            title: strings.tasks,
            cell: (application) => formatCount(application.tasks.length),
            as: 'number',
            by: { key: 'tasks', value: (application) => application.tasks.length },
          },
          {
            title: strings.performanceNow,
            term: 'performance',
            cell: ({ id }) => <Now ranked={ranked.get(id)} />,
            as: 'number',
            by: { key: 'now', value: ({ id }) => ranked.get(id)?.performance ?? null },
          },
          {
            title: strings.day,
            cell: ({ id }) => {
              const one = ranked.get(id)
              return one && <Day label={dayOf(one.name, one.day.usual)} day={one.day} objective={one.objective} />
            },
          },
          {
            title: strings.objective,
            cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
            as: 'number',
            by: { key: 'objective', value: ({ objective }) => objective },
          },
        ]}
      />
      {ranking && ranking.evaluated < ranking.total && (
        <p className={pageStyles.lead}>
          {strings.evaluatedOf(formatCount(ranking.evaluated), formatCount(ranking.total))}
        </p>
      )}
    </Page>
  )
}

function Now({ ranked }: { ranked: ApplicationRanking['worst'][number] | undefined }) {
  return <span className={ranked?.below_objective ? styles.below : undefined}>{formatShare(ranked?.performance)}</span>
}
