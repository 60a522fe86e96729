import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { firstVmsQuery, revokedAgentsQuery, useDeleteVm, useRevokeAgent, vmsQuery } from '~/api/inventory'
import type { Agent, Vm } from '~/api/types'
import { timeOf } from '~/lib/time'
import { Age } from '~/ui/Age'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { Empty, Failed, Loading } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { AGENT_STATUS } from './agentStatus'
import { NewMaster } from './NewMaster'
import { strings } from './strings'

/** Agents report about once per window, so the list is refetched. */
const REFRESH_MS = 5_000

const addVms = <Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>{strings.addVm}</Button>

/** The machines and the agents on them. */
export function VmsPage() {
  const vms = useQuery({ ...vmsQuery, refetchInterval: REFRESH_MS })
  const first = useQuery({ ...firstVmsQuery, enabled: !vms.data })
  const agents = useQuery({ ...revokedAgentsQuery, refetchInterval: REFRESH_MS })
  const edits = useEdits()
  const clock = useClock()
  const [revoking, setRevoking] = useState<Vm | null>(null)
  const [deleting, setDeleting] = useState<Vm | null>(null)

  if (vms.error && !vms.data) return <Failed what={strings.vms} error={vms.error} retry={() => void vms.refetch()} />
  const rows = vms.data ?? first.data
  if (!rows) return <Loading what={strings.vms} />
  if (rows.length === 0) {
    return (
      <Empty title={strings.noVms} action={addVms}>
        {strings.noVmsLead}
      </Empty>
    )
  }
  // A revoked agent no longer belongs to its VM; the newest one still shows that it was revoked.
  const revoked = new Map<string, Agent>()
  for (const agent of agents.data ?? []) {
    if (!revoked.has(agent.vm.id)) revoked.set(agent.vm.id, agent)
  }
  const agentOf = (vm: Vm) => vm.agent ?? revoked.get(vm.id)
  return (
    <Page title={strings.vms} lead={strings.vmsLead} action={addVms}>
      <RecordList
        label={strings.vmsAndAgents}
        rows={rows}
        isPartial={!vms.data}
        id={(vm) => vm.id}
        columns={[
          {
            title: strings.vm,
            cell: (vm) => (
              <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/vms/$vmId" params={{ vmId: vm.id }} />}>
                {vm.name}
              </Anchor>
            ),
            as: 'head',
            by: { key: 'name', value: (vm) => vm.name },
          },
          { title: strings.zone, cell: (vm) => vm.zone.name, by: { key: 'zone', value: (vm) => vm.zone.name } },
          {
            title: strings.probeAddress,
            cell: (vm) => <ProbeAddress vm={vm} />,
            by: { key: 'address', value: (vm) => vm.probe_address },
          },
          {
            title: strings.agent,
            cell: (vm) => <Responder vm={vm} agent={agentOf(vm)} />,
            by: { key: 'agent', value: (vm) => statusWords(vm, agentOf(vm)) },
          },
          {
            title: strings.lastReport,
            cell: (vm) => {
              const agent = agentOf(vm)
              return agent && <Age at={agent.last_report_at} clock={clock} now={serverNow} />
            },
            by: { key: 'last_report', value: (vm) => timeOf(agentOf(vm)?.last_report_at) },
          },
          {
            title: strings.version,
            cell: (vm) => agentOf(vm)?.agent_version,
            by: { key: 'version', value: (vm) => agentOf(vm)?.agent_version },
          },
          {
            title: strings.actions,
            cell: (vm) =>
              vm.agent && vm.agent.status !== 'revoked' ? (
                <RowAction label={strings.revokeAgentOf(vm.name)} onClick={() => setRevoking(vm)}>
                  {strings.revoke}
                </RowAction>
              ) : (
                <RowAction label={strings.deleteName(vm.name)} onClick={() => setDeleting(vm)}>
                  {strings.delete}
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
  if (!vm.probe_address) return <span className={pageStyles.quiet}>{strings.noneLower}</span>
  return (
    <>
      {vm.probe_address}
      <span className={pageStyles.quiet}>:{vm.event_port}</span>
    </>
  )
}

function statusWords(vm: Vm, agent: Vm['agent'] | undefined): string {
  const status = agent && AGENT_STATUS[agent.status]
  return status?.word ?? (vm.responder === 'ieee1588' ? strings.ptpServer : strings.noAgentStatus)
}

function Responder({ vm, agent }: { vm: Vm; agent: Vm['agent'] | undefined }) {
  const status = agent && AGENT_STATUS[agent.status]
  const words = statusWords(vm, agent)
  return status ? <StatusMark status={status.mark}>{words}</StatusMark> : words
}

function RevokeDialog({ vm, onClose }: { vm: Vm | null; onClose: () => void }) {
  const revoke = useRevokeAgent()
  return (
    <Confirm
      title={strings.revokeAgentOf(vm?.name ?? '')}
      action={strings.revoke}
      about={vm?.agent?.id ?? null}
      doing={revoke}
      onClose={onClose}
    >
      {strings.revokeEffect}
    </Confirm>
  )
}

function DeleteDialog({ vm, onClose }: { vm: Vm | null; onClose: () => void }) {
  const remove = useDeleteVm()
  return (
    <Confirm
      title={strings.deleteName(vm?.name ?? '')}
      action={strings.delete}
      about={vm?.id ?? null}
      doing={remove}
      onClose={onClose}
    >
      {strings.deleteVmEffect}
    </Confirm>
  )
}
