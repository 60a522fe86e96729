import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import { agentsQuery, useDeleteVm, useRevokeAgent, vmsQuery } from '~/api/inventory'
import type { Agent, Vm } from '~/api/types'
import { Age } from '~/ui/Age'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
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
  const clock = useClock()
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
  const agentOf = (vm: Vm) => vm.agent ?? revoked.get(vm.id)
  return (
    <Page title="VMs" lead="Each machine, its agent, and when it last reported." action={addVms}>
      <Records
        label="VMs and agents"
        rows={vms.data}
        id={(vm) => vm.id}
        columns={[
          {
            title: 'VM',
            cell: (vm) => (
              <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/vms/$vmId" params={{ vmId: vm.id }} />}>
                {vm.name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: 'Zone', cell: (vm) => vm.zone.name },
          { title: 'Probe address', cell: (vm) => <ProbeAddress vm={vm} /> },
          { title: 'Agent', cell: (vm) => <Responder vm={vm} agent={agentOf(vm)} /> },
          {
            title: 'Last report',
            cell: (vm) => {
              const agent = agentOf(vm)
              return agent && <Age at={agent.last_report_at} clock={clock} now={serverNow} />
            },
          },
          { title: 'Version', cell: (vm) => agentOf(vm)?.agent_version },
          {
            title: 'Actions',
            cell: (vm) =>
              vm.agent && vm.agent.status !== 'revoked' ? (
                <RowAction label={`Revoke the agent of ${vm.name}`} onClick={() => setRevoking(vm)}>
                  Revoke
                </RowAction>
              ) : (
                <RowAction label={`Delete ${vm.name}`} onClick={() => setDeleting(vm)}>
                  Delete
                </RowAction>
              ),
          },
        ]}
      />
      {edits && <NewMaster />}
      <RevokeDialog vm={revoking} onClose={() => setRevoking(null)} />
      <DeleteDialog vm={deleting} onClose={() => setDeleting(null)} />
    </Page>
  )
}

function ProbeAddress({ vm }: { vm: Vm }) {
  if (!vm.probe_address) return <span className={pageStyles.quiet}>none</span>
  return (
    <>
      {vm.probe_address}
      <span className={pageStyles.quiet}>:{vm.event_port}</span>
    </>
  )
}

function Responder({ vm, agent }: { vm: Vm; agent: Vm['agent'] | undefined }) {
  const status = agent && AGENT_STATUS[agent.status]
  if (status) return <StatusMark status={status.mark}>{status.word}</StatusMark>
  return vm.responder === 'ieee1588' ? 'IEEE 1588 master' : 'No agent'
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
