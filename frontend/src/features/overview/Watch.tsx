import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import type { Attention, MeshHealth } from '~/api/overview'
import { formatAge } from '~/lib/time'
import { formatBound, formatCount, formatDelay, formatRatio } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { useNow } from '~/ui/useNow'
import styles from './overview.module.css'
import { strings } from './strings'
import { isEvaluated } from './verdict'

/** Whether a mesh is watched: evaluation of its alert rules, agents by their windows, paths, loss. */
export function Watch({ mesh }: { mesh: MeshHealth }) {
  const now = useNow(1_000, serverNow)
  const { planned, measured } = mesh.paths
  const { reporting, silent, stopped, enrolled } = mesh.agents
  const agents = reporting + silent + stopped + enrolled
  const until = mesh.evaluated_until
  return (
    <ul className={styles.watch}>
      <Fact name={strings.rulesEvaluated} isBad={!isEvaluated(mesh) || mesh.alert_rules === 0}>
        {mesh.alert_rules === 0
          ? strings.noRuleEnabled
          : until === null
            ? strings.never
            : strings.ago(formatAge(now - Date.parse(until)))}
      </Fact>
      <Fact name={strings.agents} isBad={reporting < agents}>
        {strings.of(formatCount(reporting), formatCount(agents))}
      </Fact>
      <Fact name={strings.pathsMeasured} isBad={measured < planned}>
        {strings.of(formatCount(measured), formatCount(planned))}
      </Fact>
      <Fact name={strings.loss} isBad={mesh.losing.length > 0}>
        {formatRatio(mesh.loss)}
      </Fact>
    </ul>
  )
}

function Fact({ name, isBad, children }: { name: string; isBad: boolean; children: ReactNode }) {
  return (
    <li>
      {name} <strong data-bad={isBad || undefined}>{children}</strong>
    </li>
  )
}

interface Vms {
  title: string
  count: number
  vms: { vm: { id: string; name: string }; detail: ReactNode }[]
}

/** Silent agents, copied identities, older versions and large clock errors: a line each, nothing without any. */
export function NeedsAttention({ attention: { silent, copied, outdated, clocks } }: { attention: Attention }) {
  const clock = useClock()
  const age = (at: string) => <Age at={at} clock={clock} now={serverNow} />
  const lines: Vms[] = [
    {
      title: strings.silentAgents(silent.count),
      count: silent.count,
      vms: silent.first.map(({ vm, seen_at }) => ({ vm, detail: age(seen_at) })),
    },
    {
      title: strings.copiedIdentities(copied.count),
      count: copied.count,
      vms: copied.first.map(({ vm, seen_at }) => ({ vm, detail: age(seen_at) })),
    },
    {
      title: strings.clockErrors(clocks.count, formatDelay(clocks.above_ns)),
      count: clocks.count,
      vms: clocks.first.map(({ vm, clock_error_ns }) => ({ vm, detail: formatBound(clock_error_ns) })),
    },
    {
      title: strings.outdatedAgents(outdated.count, outdated.newest ?? ''),
      count: outdated.count,
      vms: outdated.first.map(({ vm, agent_version }) => ({ vm, detail: agent_version })),
    },
  ].filter(({ count }) => count > 0)
  if (lines.length === 0) return null
  return (
    <section aria-label={strings.attention}>
      <ul className={styles.watch}>
        {lines.map(({ title, count, vms }) => (
          <li key={title}>
            <strong data-bad>{title}</strong>:{' '}
            {vms.map(({ vm, detail }) => (
              <span key={vm.id}>
                <TextLink to="/vms/$vmId" params={{ vmId: vm.id }}>
                  {vm.name}
                </TextLink>{' '}
                {detail}{' '}
              </span>
            ))}
            {count > vms.length && <TextLink to="/vms">{strings.andMore(count - vms.length)}</TextLink>}
          </li>
        ))}
      </ul>
    </section>
  )
}
