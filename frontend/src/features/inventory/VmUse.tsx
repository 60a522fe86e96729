import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { applicationsQuery } from '~/api/applications'
import { serverNow } from '~/api/connection'
import { incidentsQuery } from '~/api/incidents'
import type { Vm } from '~/api/types'
import { coversVm } from '~/lib/culprits'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { SEVERITIES } from '~/ui/severity'
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
          if (rows.length === 0) return <p className={pageStyles.quiet}>{strings.noApplications}</p>
          return (
            <Records
              label={strings.applications}
              rows={rows}
              id={({ application }) => application.id}
              columns={[
                {
                  title: strings.application,
                  cell: ({ application: { id, name } }) => (
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
  const clock = useClock()
  const query = useQuery(incidentsQuery(undefined, ['open', 'acknowledged', 'resolved']))
  return (
    <Panel title={strings.incidents}>
      <QueryResult query={query} what={strings.incidentsLower}>
        {(incidents) => {
          const place = { id: vm.id, zoneId: vm.zone.id }
          const rows = incidents.filter(({ mesh, culprit }) => meshIds.includes(mesh.id) && coversVm(culprit, place))
          if (rows.length === 0) return <p className={pageStyles.quiet}>{strings.noIncidents}</p>
          return (
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
                      renderRoot={(root) => <Link {...root} to="/incidents/$incidentId" params={{ incidentId: id }} />}
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
          )
        }}
      </QueryResult>
    </Panel>
  )
}
