import { useQuery } from '@tanstack/react-query'
import { serverNow } from '~/api/connection'
import { agentEventsQuery, agentQuery, vmPathsQuery, vmQuery } from '~/api/inventory'
import type { Agent, Vm } from '~/api/types'
import { formatMoment } from '~/lib/time'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { ButtonLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Empty, Failed, Loading, Notice } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { Unloaded } from '~/ui/Unloaded'
import { AGENT_STATUS } from './agentStatus'
import {
  cloudFacts,
  cloudOf,
  elsewhere,
  excessiveWindowTimeErrorMs,
  type Fact,
  healthFacts,
  kindOf,
  machineFacts,
  sentenceOf,
} from './machine'
import { strings } from './strings'
import { VmBudget } from './VmBudget'
import { VmCapacity } from './VmCapacity'
import { VmClocks } from './VmClocks'
import { VmHostWaits } from './VmHostWaits'
import { VmPaths } from './VmPaths'
import { VmSettings } from './VmSettings'
import { VmTokenBucket } from './VmTokenBucket'
import { VmTraffic } from './VmTraffic'
import { VmApplications, VmIncidents } from './VmUse'
import styles from './vm.module.css'

const REFRESH_MS = 10_000

const allVms = (
  <ButtonLink variant="default" to="/vms">
    {strings.allVms}
  </ButtonLink>
)

/** One VM: its paths, the errors of its clock, where their delays come from, the waits on it, its traffic with its token bucket, its incidents, the applications on it, its capacity, its name, zone and labels, its agent with the machine it reports and its events. */
export function VmPage({ vmId }: { vmId: string }) {
  const vm = useQuery({ ...vmQuery(vmId), refetchInterval: REFRESH_MS })
  const agentId = vm.data?.agent?.id
  const agent = useQuery({ ...agentQuery(agentId ?? ''), enabled: agentId !== undefined, refetchInterval: REFRESH_MS })
  const paths = useQuery(vmPathsQuery(vmId))
  if (!vm.data) return <Unloaded query={vm} title={strings.vm} what={strings.vmLower} failed={strings.theVm} />
  const { zone } = vm.data
  const place = `${zone.provider}, ${zone.region}, ${zone.name}${zone.physical_id ? ` (${zone.physical_id})` : ''}`
  return (
    <Page title={vm.data.name} lead={place} action={allVms}>
      {agentId === undefined && (
        <Empty title={strings.noAgent} action={<ButtonLink to="/onboarding">{strings.addVm}</ButtonLink>}>
          {strings.noAgentLead}
        </Empty>
      )}
      {agentId !== undefined && agent.error && !agent.data && (
        <Failed what={strings.theAgent} error={agent.error} retry={() => void agent.refetch()} />
      )}
      <VmPaths vmId={vmId} />
      {/* Below the paths, whose height nobody knows before: what comes earlier would be pushed down. */}
      <div style={{ display: paths.isPending ? 'none' : 'contents' }}>
        <VmClocks vmId={vmId} />
        <VmBudget vmId={vmId} />
        <VmHostWaits vmId={vmId} />
        <VmTraffic vmId={vmId} />
        <VmTokenBucket vmId={vmId} />
        <VmIncidents vm={vm.data} meshIds={(paths.data?.meshes ?? []).map(({ mesh }) => mesh.id)} />
        <VmApplications vmId={vmId} />
        <VmCapacity vmId={vmId} />
        <VmSettings vm={vm.data} />
        {agent.data && <AboutAgent vm={vm.data} agent={agent.data} />}
      </div>
    </Page>
  )
}

function AboutAgent({ vm, agent }: { vm: Vm; agent: Agent }) {
  const clock = useClock()
  const status = AGENT_STATUS[agent.status]
  const cloud = cloudOf(agent.description)
  const windowTimeErrorMs = excessiveWindowTimeErrorMs(agent.health)
  return (
    <>
      {windowTimeErrorMs !== null && <Notice tone="warn">{strings.windowTimeWarning(windowTimeErrorMs)}</Notice>}
      {cloud && elsewhere(vm.zone, cloud) && (
        <Notice tone="info">
          {strings.cloudZone(cloud.provider, cloud.region, cloud.zone)}
          {cloud.physicalZone && ` (${cloud.physicalZone})`}
          {strings.cloudZoneHint}
        </Notice>
      )}
      <Panel title={strings.agent}>
        <dl className={styles.facts}>
          <dt>{strings.status}</dt>
          <dd>
            <StatusMark status={status.mark}>{status.word}</StatusMark>
          </dd>
          <dt>{strings.lastReport}</dt>
          <dd>
            <Age at={agent.last_report_at} clock={clock} now={serverNow} />
          </dd>
          <dt>{strings.version}</dt>
          <dd>{agent.agent_version}</dd>
          <dt>{strings.probeAddress}</dt>
          <dd>{strings.addressAndPorts(vm.probe_address ?? strings.noneLower, vm.event_port, vm.general_port)}</dd>
          <Rows of={healthFacts(agent.health)} />
        </dl>
      </Panel>
      <Panel title={strings.machine}>
        <Facts of={machineFacts(agent.description)} none={strings.noMachine} />
      </Panel>
      <Panel title={strings.cloud}>
        <Facts of={cloudFacts(agent.description)} none={strings.noCloud} />
      </Panel>
      <Events agentId={agent.id} />
    </>
  )
}

function Rows({ of }: { of: Fact[] }) {
  return of.map(([name, value]) => (
    <div key={name} className={styles.row}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ))
}

function Facts({ of, none }: { of: Fact[]; none: string }) {
  if (of.length === 0) return <p className={pageStyles.quiet}>{none}</p>
  return (
    <dl className={styles.facts}>
      <Rows of={of} />
    </dl>
  )
}

/** Events of the agent, newest first. */
function Events({ agentId }: { agentId: string }) {
  const clock = useClock()
  const events = useQuery({ ...agentEventsQuery(agentId), refetchInterval: REFRESH_MS })
  if (events.error && !events.data) {
    return <Failed what={strings.events} error={events.error} retry={() => void events.refetch()} />
  }
  return (
    <Panel title={strings.events}>
      {!events.data && <Loading what={strings.eventsLower} />}
      {events.data?.length === 0 && <p className={pageStyles.quiet}>{strings.noEvents}</p>}
      {events.data && events.data.length > 0 && (
        <Records
          label={strings.agentEvents}
          rows={events.data}
          id={(event) => event.id}
          columns={[
            { title: strings.time, cell: (event) => formatMoment(new Date(event.at), clock) },
            { title: strings.event, cell: (event) => kindOf(event.kind), as: 'head' },
            { title: strings.detail, cell: (event) => <div className={styles.detail}>{sentenceOf(event.detail)}</div> },
          ]}
        />
      )}
    </Panel>
  )
}
