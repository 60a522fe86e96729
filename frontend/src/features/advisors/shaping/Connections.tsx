import { useQuery } from '@tanstack/react-query'
import { connectionTimeoutsQuery } from '~/api/advisors'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import { strings } from './strings'

/** Waits of TCP connections for a retransmission timeout, by VM and peer, as agents report them. */
export function Connections({ mesh }: { mesh: string }) {
  const query = useQuery(connectionTimeoutsQuery(mesh))
  return (
    <QueryResult query={query} what={strings.connectionsLower}>
      {({ items, vms, vms_reporting: reporting }) =>
        reporting === 0 ? (
          <Notice tone="info" title={strings.noConnections}>
            {strings.noConnectionsLead}
          </Notice>
        ) : (
          <>
            <p className={pageStyles.lead}>{strings.connectionsLead(reporting, vms)}</p>
            <Records
              label={strings.connections}
              rows={items}
              id={({ vm_id: vm, peer_vm_id: peer }) => `${vm} ${peer}`}
              columns={[
                {
                  title: strings.vm,
                  cell: ({ vm_id: id, vm_name: name }) => <VmLink id={id} name={name} />,
                  as: 'head',
                },
                {
                  title: strings.peer,
                  cell: ({ peer_vm_id: id, peer_vm_name: name }) =>
                    id && name ? <VmLink id={id} name={name} /> : strings.others,
                },
                { title: strings.verdict, cell: ({ found }) => (found ? strings.yes : strings.no) },
                { title: strings.evidence, cell: ({ evidence }) => evidence, as: 'wrap' },
                {
                  title: strings.meanWait,
                  cell: ({ stall_ms: wait }) => (wait === null ? NO_VALUE : formatDelay(1e6 * wait)),
                  as: 'number',
                },
              ]}
            />
          </>
        )
      }
    </QueryResult>
  )
}

function VmLink({ id, name }: { id: string; name: string }) {
  return (
    <TextLink to="/vms/$vmId" params={{ vmId: id }}>
      {name}
    </TextLink>
  )
}
