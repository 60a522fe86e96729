import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { serverNow } from '~/api/connection'
import { incidentsQuery } from '~/api/incidents'
import type { Vm } from '~/api/types'
import { coversVm } from '~/lib/culprits'
import { IncidentRows } from '~/ui/IncidentRows'
import { TextLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** The applications with tasks on a VM. */
export function VmApplications({ vmId }: { vmId: string }) {
  const query = useQuery(applicationsQuery)
  return (
    <Panel title={strings.applications}>
      <QueryResult query={query} what={strings.applicationsLower}>
        {(applications) => {
          const rows = applications.flatMap((application) => {
            const tasks = application.tasks.filter(({ vm }) => vm?.id === vmId)
            return tasks.length > 0 ? [{ application, tasks }] : []
          })
          if (rows.length === 0)
            return (
              <NoRows next={<WordLink to="/applications">{strings.seeApplications}</WordLink>}>
                {strings.noApplications}
              </NoRows>
            )
          return (
            <Records
              label={strings.applications}
              rows={rows}
              id={({ application }) => application.id}
              columns={[
                {
                  title: strings.application,
                  cell: ({ application: { id, name } }) => (
                    <TextLink to="/applications/$applicationId" params={{ applicationId: id }}>
                      {name}
                    </TextLink>
                  ),
                  as: 'head',
                },
                { title: strings.tasks, cell: ({ tasks }) => tasks.map(({ name }) => name).join(', '), as: 'wrap' },
                { title: strings.mesh, cell: ({ application }) => application.mesh.name },
              ]}
            />
          )
        }}
      </QueryResult>
    </Panel>
  )
}

/** The newest incidents of a VM, its zone, its paths and its meshes. */
export function VmIncidents({ vm, meshIds }: { vm: Vm; meshIds: readonly string[] }) {
  const query = useQuery(incidentsQuery(undefined, ['open', 'acknowledged', 'resolved']))
  return (
    <Panel title={strings.incidents}>
      <QueryResult query={query} what={strings.incidentsLower}>
        {(incidents) => {
          const place = { id: vm.id, zoneId: vm.zone.id }
          const rows = incidents.filter(({ mesh, culprit }) => meshIds.includes(mesh.id) && coversVm(culprit, place))
          if (rows.length === 0) return <p className={pageStyles.quiet}>{strings.noIncidents}</p>
          return <IncidentRows rows={rows} now={serverNow} />
        }}
      </QueryResult>
    </Panel>
  )
}
