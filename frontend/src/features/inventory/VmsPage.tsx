import { Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { EditorsOnly } from '~/api/EditorsOnly'
import { firstVmsQuery, revokedAgentsQuery, useDeleteVm, useRevokeAgent, vmsQuery } from '~/api/inventory'
import type { Agent, Vm } from '~/api/types'
import { idsOf } from '~/lib/inTurn'
import { labelLines } from '~/lib/labels'
import { timeOf } from '~/lib/time'
import { Age } from '~/ui/Age'
import type { Bulk } from '~/ui/BulkBar'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { useClock } from '~/ui/clock'
import { ButtonLink } from '~/ui/links'
import { LoadingPage, Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Empty, Failed } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { AGENT_STATUS } from './agentStatus'
import { NewMaster } from './NewMaster'
import { strings } from './strings'

/** Agents report about once per window, so the list is refetched; a long one less often, because it costs more. */
const REFRESH_MS = 5_000
const LONG_REFRESH_MS = 30_000
const LONG_ROWS = 500

const addVms = (
  <EditorsOnly>
    <Group gap="xs">
      <CreateDrawer label={strings.addMaster} variant="default">
        {(close) => <NewMaster onDone={close} />}
      </CreateDrawer>
      <ButtonLink to="/onboarding">{strings.addVm}</ButtonLink>
    </Group>
  </EditorsOnly>
)

/** The machines and the agents on them. */
export function VmsPage() {
  const isLoaded = useQueryClient().getQueryData(vmsQuery.queryKey) !== undefined
  // Its few rows are on the screen before all are asked for, which takes the server longer.
  const first = useQuery({ ...firstVmsQuery, enabled: !isLoaded })
  const vms = useQuery({
    ...vmsQuery,
    enabled: isLoaded || first.isSuccess,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > LONG_ROWS ? LONG_REFRESH_MS : REFRESH_MS),
  })
  const agents = useQuery({ ...revokedAgentsQuery, refetchInterval: REFRESH_MS })
  const edits = useEdits()
  const clock = useClock()
  const bulk = useBulk()

  const rows = vms.data ?? first.data
  const failed = [first, vms].find(({ error }) => error)
  if (failed && !rows) {
    return <Failed what={strings.vms} error={failed.error} retry={() => void failed.refetch()} />
  }
  if (!rows) return <LoadingPage title={strings.vms} what={strings.vms} />
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
        bulk={edits && bulk}
        id={(vm) => vm.id}
        columns={[
          {
            title: strings.vm,
            cell: (vm) => (
              <Link to="/vms/$vmId" params={{ vmId: vm.id }} className={pageStyles.link}>
                {vm.name}
              </Link>
            ),
            as: 'head',
            by: { key: 'name', value: (vm) => vm.name },
          },
          { title: strings.zone, by: { key: 'zone', value: (vm) => vm.zone.name, filter: true } },
          ...(rows.some(({ labels }) => Object.keys(labels).length > 0)
            ? [
                {
                  title: strings.labels,
                  cell: (vm: Vm) => labelsOf(vm).join(', '),
                  as: 'quiet' as const,
                  by: { key: 'labels', value: (vm: Vm) => labelsOf(vm).join(' '), filter: labelsOf },
                },
              ]
            : []),
          {
            title: strings.probeAddress,
            cell: (vm) => <ProbeAddress vm={vm} />,
            by: { key: 'address', value: (vm) => vm.probe_address },
          },
          {
            title: strings.agent,
            cell: (vm) => <Responder vm={vm} agent={agentOf(vm)} />,
            by: { key: 'agent', value: (vm) => statusWords(vm, agentOf(vm)), filter: true },
          },
          {
            title: strings.lastReport,
            cell: (vm) => {
              const agent = agentOf(vm)
              return agent && <Age at={agent.last_report_at} clock={clock} now={serverNow} />
            },
            by: { key: 'last_report', value: (vm) => timeOf(agentOf(vm)?.last_report_at) },
          },
          { title: strings.version, by: { key: 'version', value: (vm) => agentOf(vm)?.agent_version } },
        ]}
      />
    </Page>
  )
}

const labelsOf = ({ labels }: Vm) => labelLines(labels).split('\n').filter(Boolean)

/** A VM with an agent that may report: it is revoked before the VM is deleted. */
const hasAgent = ({ agent }: Vm) => agent !== null && agent.status !== 'revoked'

function useBulk(): Bulk<Vm> {
  const revoke = useRevokeAgent()
  const remove = useDeleteVm()
  return {
    nouns: [strings.vm, strings.vms],
    name: ({ name }) => name,
    actions: [
      {
        label: strings.revokeAgents,
        applies: hasAgent,
        effect: strings.revokeSeveralEffect,
        run: (vms, watch) => revoke.each(idsOf(vms.flatMap(({ agent }) => agent ?? [])), watch),
      },
      {
        label: strings.delete,
        applies: (vm) => !hasAgent(vm),
        effect: strings.deleteVmsEffect,
        run: (vms, watch) => remove.each(idsOf(vms), watch),
      },
    ],
  }
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

function serverWords({ responder, ptp_domain: domain }: Vm): string {
  if (responder === 'agent') return strings.noAgentStatus
  const [plain, inDomain] =
    responder === 'sptp' ? [strings.sptpServer, strings.sptpServerIn] : [strings.ptpServer, strings.ptpServerIn]
  return domain === 0 ? plain : inDomain(domain)
}

function statusWords(vm: Vm, agent: Vm['agent'] | undefined): string {
  const status = agent && AGENT_STATUS[agent.status]
  return status?.word ?? serverWords(vm)
}

function Responder({ vm, agent }: { vm: Vm; agent: Vm['agent'] | undefined }) {
  const status = agent && AGENT_STATUS[agent.status]
  const words = statusWords(vm, agent)
  return status ? <StatusMark status={status.mark}>{words}</StatusMark> : words
}
