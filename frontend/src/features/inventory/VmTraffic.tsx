import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { vmTrafficQuery } from '~/api/inventory'
import type { VmTraffic as Traffic } from '~/api/types'
import { summary, type Values } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import type { TimeRange } from '~/lib/spans'
import { formatMoment } from '~/lib/time'
import { bitRateTicks, formatBitRate } from '~/lib/traffic'
import { useClock } from '~/ui/clock'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime, useZoomTime } from '~/ui/time'
import { strings } from './trafficStrings'
import styles from './vm.module.css'

/** In pixels. */
const HEIGHT = 170
/** Least extent of the vertical axis, bit/s: a few packets must not look like a burst. */
const LEAST = 10_000

/** The traffic of a VM over time: what it sent and received, in steps. */
export function VmTraffic({ vmId }: { vmId: string }) {
  const query = useQuery(vmTrafficQuery(vmId, useTime()))
  return (
    <Panel title={strings.traffic}>
      <p className={pageStyles.lead}>{strings.trafficLead}</p>
      <div className={query.data?.interface === null ? undefined : styles.clocks}>
        <QueryResult query={query} what={strings.trafficLower}>
          {({ range, ...traffic }) => <Chart traffic={traffic} range={range} />}
        </QueryResult>
      </div>
    </Panel>
  )
}

/** "1.20 Mbit/s to 4.00 Mbit/s" */
function extentWords(values: Values): string | null {
  const summed = summary(values)
  return summed && strings.rateRange(formatBitRate(summed.least), formatBitRate(summed.most))
}

function Chart({ traffic, range }: { traffic: Traffic; range: TimeRange }) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const onZoom = useZoomTime()
  const [cursor, setCursor] = useState<number | null>(null)
  const times = useMemo(() => traffic.points_at.map((at) => Date.parse(at) / 1_000), [traffic])
  const lines = useMemo(
    (): Line[] => [
      { label: strings.sent, colour: lineStyle(0).colour, values: traffic.sent_bit_per_s },
      { label: strings.received, colour: lineStyle(1).colour, values: traffic.received_bit_per_s },
    ],
    [traffic],
  )
  const extent = useMemo((): [number, number] => {
    const [start, end] = [range.from, range.to].map((at) => Date.parse(at) / 1_000) as [number, number]
    // The newest step may end after the clock of this machine.
    return [start, Math.max(end, (times.at(-1) ?? 0) + traffic.resolution_s)]
  }, [range, times, traffic.resolution_s])
  const moment = cursor === null ? undefined : times[cursor]
  if (traffic.interface === null) return <p className={pageStyles.quiet}>{strings.noTraffic}</p>
  return (
    <figure className={styles.clock}>
      <figcaption>
        <h3>{strings.onInterface(traffic.interface)}</h3>
        {lines.map(({ label, colour, values }) => (
          <span key={label} className={styles.value}>
            <span className={styles.key} style={{ background: colour }} />
            {label} <strong>{cursor === null ? extentWords(values) : formatBitRate(values[cursor])}</strong>
          </span>
        ))}
        <span className={styles.moment}>
          {moment === undefined
            ? strings.resolution(traffic.resolution_s)
            : formatMoment(new Date(moment * 1_000), clock)}
        </span>
      </figcaption>
      <div style={{ height: HEIGHT }}>
        <SeriesChart
          label={strings.trafficSummary(lines.map(({ label, values }) => `${label} ${extentWords(values)}`).join('; '))}
          times={times}
          lines={lines}
          range={extent}
          shape="steps"
          least={LEAST}
          formatTicks={bitRateTicks}
          height={HEIGHT}
          group="vm-traffic"
          clock={clock}
          theme={theme}
          onCursor={setCursor}
          onZoom={onZoom}
        />
      </div>
    </figure>
  )
}
