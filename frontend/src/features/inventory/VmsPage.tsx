import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeleteVm, useRevokeAgent } from '~/api/actions'
import { serverNow } from '~/api/connection'
import { agentsQuery, vmsQuery } from '~/api/queries'
import type { Agent, Vm } from '~/api/types'
import { Age } from '~/ui/Age'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, pageStyles, Table } from '~/ui/Page'
import { Empty, Failed, Loading } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { useEdits } from '../session/useEdits'
import { AGENT_STATUS } from './agentStatus'
import { NewMaster } from './NewMaster'

/** Agents report every window or so; this list follows without being asked. */
const REFRESH_MS = 5_000

const addVms = <Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>Add a VM</Button>

/** The machines and the agents on them. */
export function VmsPage() {
  const vms = useQuery({ ...vmsQuery, refetchInterval: REFRESH_MS })
  const agents = useQuery({ ...agentsQuery, refetchInterval: REFRESH_MS })
  const edits = useEdits()
  const [revoking, setRevoking] = useState<Vm | null>(null)
  const [deleting, setDeleting] = useState<Vm | null>(null)

  if (vms.error && !vms.data)
    return <Failed what="The list of VMs" error={vms.error} retry={() => void vms.refetch()} />
  if (!vms.data) return <Loading what="VMs" />
  if (vms.data.length === 0) {
    return (
      <Empty title="No VM has been enrolled yet" action={addVms}>
        Run one command on each machine; it appears here within seconds.
      </Empty>
    )
  }
  // A revoked agent is no longer its VM's; the newest one still says what happened to it.
  const revoked = new Map<string, Agent>()
  for (const agent of agents.data ?? []) {
    if (agent.status === 'revoked' && !revoked.has(agent.vm.id)) revoked.set(agent.vm.id, agent)
  }
  return (
    <Page title="VMs" lead="Each machine, its agent, and when it last reported." action={addVms}>
      <Table label="VMs and agents">
        <thead>
          <tr>
            <th scope="col">VM</th>
            <th scope="col">Zone</th>
            <th scope="col">Probe address</th>
            <th scope="col">Agent</th>
            <th scope="col">Last report</th>
            <th scope="col">Version</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {vms.data.map((vm) => (
            <VmRow
              key={vm.id}
              vm={vm}
              revoked={revoked.get(vm.id)}
              onRevoke={() => setRevoking(vm)}
              onDelete={() => setDeleting(vm)}
            />
          ))}
        </tbody>
      </Table>
      {edits && <NewMaster />}
      <RevokeDialog vm={revoking} onClose={() => setRevoking(null)} />
      <DeleteDialog vm={deleting} onClose={() => setDeleting(null)} />
    </Page>
  )
}

interface RowProps {
  vm: Vm
  revoked: Agent | undefined
  onRevoke: () => void
  onDelete: () => void
}

function VmRow({ vm, revoked, onRevoke, onDelete }: RowProps) {
  const clock = useClock()
  const agent = vm.agent ?? revoked
  const status = agent && AGENT_STATUS[agent.status]
  const canRevoke = agent && agent.status !== 'revoked'
  return (
    <tr>
      <th scope="row">
        <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/vms/$vmId" params={{ vmId: vm.id }} />}>
          {vm.name}
        </Anchor>
      </th>
      <td>{vm.zone.name}</td>
      <td>
        {vm.probe_address ?? <span className={pageStyles.quiet}>none</span>}
        {vm.probe_address && <span className={pageStyles.quiet}>:{vm.event_port}</span>}
      </td>
      <td>
        {status ? (
          <StatusMark status={status.mark}>{status.word}</StatusMark>
        ) : vm.responder === 'ieee1588' ? (
          'IEEE 1588 master'
        ) : (
          'No agent'
        )}
      </td>
      <td>{agent ? <Age at={agent.last_report_at} clock={clock} now={serverNow} /> : ''}</td>
      <td>{agent?.agent_version}</td>
      <td>
        {canRevoke ? (
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={onRevoke}
            aria-label={`Revoke the agent of ${vm.name}`}
          >
            Revoke
          </Anchor>
        ) : (
          <Anchor component="button" type="button" size="sm" onClick={onDelete} aria-label={`Delete ${vm.name}`}>
            Delete
          </Anchor>
        )}
      </td>
    </tr>
  )
}

function RevokeDialog({ vm, onClose }: { vm: Vm | null; onClose: () => void }) {
  const revoke = useRevokeAgent()
  return (
    <Confirm
      title={`Revoke the agent of ${vm?.name}`}
      action="Revoke"
      about={vm?.agent?.id ?? null}
      doing={revoke}
      onClose={onClose}
    >
      Its reports are refused from now on and its paths become stale. The VM can be enrolled again with a new token.
    </Confirm>
  )
}

function DeleteDialog({ vm, onClose }: { vm: Vm | null; onClose: () => void }) {
  const remove = useDeleteVm()
  return (
    <Confirm title={`Delete ${vm?.name}`} action="Delete" about={vm?.id ?? null} doing={remove} onClose={onClose}>
      It leaves every mesh it is in, and its row and column leave the heatmap.
    </Confirm>
  )
}
