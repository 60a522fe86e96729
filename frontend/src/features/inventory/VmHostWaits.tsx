import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { vmHostWaitsQuery } from '~/api/inventory'
import type { VmHostWaits as Waits } from '~/api/types'
import { newest, summary, type Values } from '~/charts/series/lines'
import type { Line } from '~/charts/series/SeriesChart'
import { tickLabels } from '~/lib/metrics'
import type { Span, TimeRange } from '~/lib/spans'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime } from '~/ui/time'
import { strings } from './hostWaitStrings'
import { VmHistory } from './VmHistory'
import styles from './vm.module.css'

/** Least extent of the vertical axis, ns: timers of an idle VM are late by less. */
const LEAST_NS = 200_000
const KINDS = ['wake', 'receive', 'send', 'queue'] as const

/** The waits on a VM itself over time, in steps. `name` is that of the VM, on pages that are not its own. */
export function VmHostWaits({ vmId, name, span }: { vmId: string; name?: string; span?: Span }) {
  const query = useQuery(vmHostWaitsQuery(vmId, useTime(), span))
  return (
    <Panel title={name === undefined ? strings.title : strings.titleOf(name)}>
      <p className={pageStyles.lead}>{strings.lead}</p>
      <QueryResult query={query} what={strings.lower}>
        {({ range, ...waits }) => <Chart waits={waits} range={range} />}
      </QueryResult>
    </Panel>
  )
}

const inNs = (us: readonly (number | null)[]): Values => us.map((value) => value && value * 1_000)

function ticks(values: number[]): string[] {
  const { unit, labels } = tickLabels('one_way_delay', values)
  return labels.map((label) => `${label} ${unit}`)
}

/** "61.2 µs to 84.0 µs"; "not available" without a value */
function extentWords(values: Values): string {
  const summed = summary(values)
  return summed ? strings.range(formatDelay(summed.least), formatDelay(summed.most)) : strings.notAvailable
}

function Chart({ waits, range }: { waits: Waits; range: TimeRange }) {
  const lines = useMemo(
    (): Line[] =>
      KINDS.map((kind, at) => ({
        ...{ label: strings[kind], colour: lineStyle(at).colour, values: inNs(waits[kind].p99_us) },
      })),
    [waits],
  )
  const last = newest(waits.stalled_ratio)
  if (last === null) return <p className={pageStyles.quiet}>{strings.none}</p>
  return (
    <VmHistory
      steps={waits}
      range={range}
      lines={lines}
      format={formatDelay}
      extentWords={extentWords}
      resolution={strings.resolution(waits.resolution_s)}
      summary={strings.summary}
      shape="steps"
      least={LEAST_NS}
      formatTicks={ticks}
      group="path"
      below={(cursor) => (
        <dl className={styles.facts}>
          {facts(waits, cursor ?? last).map(([label, value]) => (
            <div key={label} className={styles.row}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    />
  )
}

/** Return the counts of one step, each with its name. */
function facts(waits: Waits, at: number): [string, string][] {
  const ratio = (value: number | null | undefined) => (value == null ? strings.notAvailable : formatRatio(value))
  const count = (value: number | null | undefined) =>
    value == null ? strings.notAvailable : strings.times(formatCount(value))
  return [
    [strings.stalled, ratio(waits.stalled_ratio[at])],
    [strings.pressure, ratio(waits.pressure_ratio[at])],
    [strings.steal, ratio(waits.steal_ratio[at])],
    [strings.throttled, ratio(waits.throttled_ratio[at])],
    [strings.squeezed, count(waits.softirq_squeezed[at])],
    [strings.drops, count(waits.receive_drops[at])],
  ]
}
