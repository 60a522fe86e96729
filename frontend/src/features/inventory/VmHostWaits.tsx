import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { vmHostWaitsQuery } from '~/api/inventory'
import type { VmHostWaits as Waits } from '~/api/types'
import { newest, summary, type Values } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { tickLabels } from '~/lib/metrics'
import type { Span, TimeRange } from '~/lib/spans'
import { formatMoment } from '~/lib/time'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime, useZoomTime } from '~/ui/time'
import { strings } from './hostWaitStrings'
import styles from './vm.module.css'

/** In pixels. */
const HEIGHT = 170
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
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const onZoom = useZoomTime()
  const [cursor, setCursor] = useState<number | null>(null)
  const times = useMemo(() => waits.points_at.map((at) => Date.parse(at) / 1_000), [waits])
  const lines = useMemo(
    (): Line[] =>
      KINDS.map((kind, at) => ({
        ...{ label: strings[kind], colour: lineStyle(at).colour, values: inNs(waits[kind].p99_us) },
      })),
    [waits],
  )
  const extent = useMemo((): [number, number] => {
    const [start, end] = [range.from, range.to].map((at) => Date.parse(at) / 1_000) as [number, number]
    // The newest step may end after the clock of this machine.
    return [start, Math.max(end, (times.at(-1) ?? 0) + waits.resolution_s)]
  }, [range, times, waits.resolution_s])
  const at = cursor ?? newest(waits.stalled_ratio)
  const moment = cursor === null ? undefined : times[cursor]
  if (at === null) return <p className={pageStyles.quiet}>{strings.none}</p>
  return (
    <figure className={styles.clock}>
      <figcaption>
        {lines.map(({ label, colour, values }) => (
          <span key={label} className={styles.value}>
            <span className={styles.key} style={{ background: colour }} />
            {label} <strong>{cursor === null ? extentWords(values) : formatDelay(values[cursor])}</strong>
          </span>
        ))}
        <span className={styles.moment}>
          {moment === undefined
            ? strings.resolution(waits.resolution_s)
            : formatMoment(new Date(moment * 1_000), clock)}
        </span>
      </figcaption>
      <div style={{ height: HEIGHT }}>
        <SeriesChart
          label={strings.summary(lines.map(({ label, values }) => `${label} ${extentWords(values)}`).join('; '))}
          times={times}
          lines={lines}
          range={extent}
          shape="steps"
          least={LEAST_NS}
          formatTicks={ticks}
          height={HEIGHT}
          group="path"
          clock={clock}
          theme={theme}
          onCursor={setCursor}
          onZoom={onZoom}
        />
      </div>
      <dl className={styles.facts}>
        {facts(waits, at).map(([label, value]) => (
          <div key={label} className={styles.row}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </figure>
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
