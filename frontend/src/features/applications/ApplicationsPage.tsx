import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { applicationsQuery, performanceQuery } from '~/api/applications'
import type { Application } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Page } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Empty, Failed, Loading } from '~/ui/State'
import styles from './applications.module.css'

const declare = <Button renderRoot={(root) => <Link {...root} to="/applications/new" />}>Declare an application</Button>

/** What runs on the VMs, and how it does under the newest round trips. */
export function ApplicationsPage() {
  const applications = useQuery(applicationsQuery)
  if (applications.error && !applications.data) {
    return <Failed what="The applications" error={applications.error} retry={() => void applications.refetch()} />
  }
  if (!applications.data) return <Loading what="applications" />
  if (applications.data.length === 0) {
    return (
      <Empty title="There is no application yet" action={declare}>
        An application says which VMs work together and what latency costs them. Sinemora then tells how it does, and
        which task to move where.
      </Empty>
    )
  }
  return (
    <Page
      title="Applications"
      lead="What runs on the VMs of a mesh, and what share of its best performance the newest round trips leave it."
      action={declare}
    >
      <Records
        label="Applications"
        rows={applications.data}
        id={(one) => one.id}
        columns={[
          {
            title: 'Application',
            cell: (one) => (
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link {...root} to="/applications/$applicationId" params={{ applicationId: one.id }} />
                )}
              >
                {one.name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: 'Mesh', cell: (one) => one.mesh.name },
          { title: 'Curve', cell: (one) => one.curve.name },
          { title: 'Tasks', cell: (one) => formatCount(one.tasks.length), as: 'number' },
          { title: 'Performance now', cell: (one) => <PerformanceNow application={one} />, as: 'number' },
          {
            title: 'Objective',
            cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
            as: 'number',
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
