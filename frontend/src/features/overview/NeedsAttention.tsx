import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import type { Attention, MeshHealth } from '~/api/overview'
import { formatBound, formatDelay } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { StatusMark } from '~/ui/StatusMark'
import styles from './overview.module.css'
import { strings } from './strings'

interface Vm {
  id: string
  name: string
}

/** Silent agents, copied identities, older versions and large clock errors, each with a link to its VM. */
export function NeedsAttention({ attention, meshes }: { attention: Attention; meshes: readonly MeshHealth[] }) {
  const clock = useClock()
  const { silent, copied, outdated, clocks } = attention
  if (silent.count + copied.count + outdated.count + clocks.count === 0) {
    const hasAgents = meshes.some(
      ({ agents }) => agents.reporting + agents.silent + agents.stopped + agents.enrolled > 0,
    )
    return <p className={pageStyles.lead}>{hasAgents ? strings.nothing : strings.noAgents}</p>
  }
  return (
    <ul className={styles.attention}>
      {silent.count > 0 && (
        <Line
          title={strings.silentAgents(silent.count)}
          count={silent.count}
          vms={silent.first.map(({ vm, last_report_at }) => ({
            vm,
            detail: <Age at={last_report_at} clock={clock} now={serverNow} />,
          }))}
        />
      )}
      {copied.count > 0 && (
        <Line
          title={strings.copiedIdentities(copied.count)}
          count={copied.count}
          vms={copied.first.map(({ vm, seen_at }) => ({
            vm,
            detail: <Age at={seen_at} clock={clock} now={serverNow} />,
          }))}
        />
      )}
      {clocks.count > 0 && (
        <Line
          title={strings.clockErrors(clocks.count, formatDelay(clocks.above_ns))}
          count={clocks.count}
          vms={clocks.first.map(({ vm, clock_error_ns }) => ({ vm, detail: formatBound(clock_error_ns) }))}
        />
      )}
      {outdated.count > 0 && (
        <Line
          title={strings.outdatedAgents(outdated.count, outdated.newest ?? '')}
          count={outdated.count}
          vms={outdated.first.map(({ vm, agent_version }) => ({ vm, detail: agent_version }))}
        />
      )}
    </ul>
  )
}

interface LineProps {
  title: string
  count: number
  vms: { vm: Vm; detail: ReactNode }[]
}

function Line({ title, count, vms }: LineProps) {
  return (
    <li>
      <StatusMark status="warn">{title}</StatusMark>
      <ul>
        {vms.map(({ vm, detail }) => (
          <li key={vm.id}>
            <TextLink size="sm" to="/vms/$vmId" params={{ vmId: vm.id }}>
              {vm.name}
            </TextLink>{' '}
            <span className={styles.quiet}>{detail}</span>
          </li>
        ))}
        {count > vms.length && (
          <li>
            <TextLink size="sm" to="/vms">
              {strings.andMore(count - vms.length)}
            </TextLink>
          </li>
        )}
      </ul>
    </li>
  )
}
