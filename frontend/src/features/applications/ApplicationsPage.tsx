import { useQuery } from '@tanstack/react-query'
import { applicationsQuery, performanceQuery } from '~/api/applications'
import { EditorsOnly } from '~/api/EditorsOnly'
import type { Application } from '~/api/types'
import { formatShare, NEWEST_STATISTIC, performanceAtNewest } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { ButtonLink, TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
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
              <TextLink size="sm" to="/applications/$applicationId" params={{ applicationId: application.id }}>
                {application.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (application) => application.name },
          },
          {
            title: strings.mesh,
            cell: (application) => application.mesh.name,
            by: { key: 'mesh', value: (application) => application.mesh.name, filter: true },
          },
          {
            title: strings.curve,
            cell: (application) => application.curve.name,
            by: { key: 'curve', value: (application) => application.curve.name },
          },
          {
            title: strings.tasks,
            cell: (application) => formatCount(application.tasks.length),
            as: 'number',
            by: { key: 'tasks', value: (application) => application.tasks.length },
          },
          {
            title: strings.performanceNow,
            term: 'performance',
            cell: (application) => <PerformanceNow application={application} />,
            as: 'number',
          },
          {
            title: strings.objective,
            cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
            as: 'number',
            by: { key: 'objective', value: ({ objective }) => objective },
          },
        ]}
      />
    </Page>
  )
}

function PerformanceNow({ application }: { application: Application }) {
  const { data: now } = useQuery(performanceQuery(application.id))
  return (
    <span className={now?.below_objective ? styles.below : undefined}>
      {now?.performance == null ? NO_VALUE : formatShare(now.performance)}
    </span>
  )
}
