import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { applicationsQuery, performanceQuery } from '~/api/queries'
import type { Application } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Page, pageStyles, Table } from '~/ui/Page'
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
      <Table label="Applications">
        <thead>
          <tr>
            <th scope="col">Application</th>
            <th scope="col">Mesh</th>
            <th scope="col">Curve</th>
            <th scope="col" className={pageStyles.number}>
              Tasks
            </th>
            <th scope="col" className={pageStyles.number}>
              Performance now
            </th>
            <th scope="col" className={pageStyles.number}>
              Objective
            </th>
          </tr>
        </thead>
        <tbody>
          {applications.data.map((one) => (
            <Row key={one.id} application={one} />
          ))}
        </tbody>
      </Table>
    </Page>
  )
}

function Row({ application }: { application: Application }) {
  const { data: now } = useQuery(performanceQuery(application.id))
  return (
    <tr>
      <th scope="row">
        <Anchor
          size="sm"
          renderRoot={(root) => (
            <Link {...root} to="/applications/$applicationId" params={{ applicationId: application.id }} />
          )}
        >
          {application.name}
        </Anchor>
      </th>
      <td>{application.mesh.name}</td>
      <td>{application.curve.name}</td>
      <td className={pageStyles.number}>{formatCount(application.tasks.length)}</td>
      <td className={`${pageStyles.number} ${now?.below_objective ? styles.below : ''}`}>
        {now?.performance == null ? NO_VALUE : formatShare(now.performance)}
      </td>
      <td className={pageStyles.number}>
        {application.objective === null ? NO_VALUE : formatShare(application.objective)}
      </td>
    </tr>
  )
}
