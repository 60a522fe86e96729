import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { vmTrafficQuery } from '~/api/inventory'
import type { VmTraffic as Traffic } from '~/api/types'
import { summary, type Values } from '~/charts/series/lines'
import type { Line } from '~/charts/series/SeriesChart'
import type { TimeRange } from '~/lib/spans'
import { bitRateTicks, formatBitRate } from '~/lib/traffic'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime } from '~/ui/time'
import { strings } from './trafficStrings'
import { VmHistory } from './VmHistory'
import styles from './vm.module.css'

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
  return summed && strings.range(formatBitRate(summed.least), formatBitRate(summed.most))
}

function Chart({ traffic, range }: { traffic: Traffic; range: TimeRange }) {
  const lines = useMemo(
    (): Line[] => [
      { label: strings.sent, colour: lineStyle(0).colour, values: traffic.sent_bit_per_s },
      { label: strings.received, colour: lineStyle(1).colour, values: traffic.received_bit_per_s },
    ],
    [traffic],
  )
  if (traffic.interface === null) return <p className={pageStyles.quiet}>{strings.noTraffic}</p>
  return (
    <VmHistory
      heading={strings.onInterface(traffic.interface)}
      steps={traffic}
      range={range}
      lines={lines}
      format={formatBitRate}
      extentWords={extentWords}
      resolution={strings.resolution(traffic.resolution_s)}
      summary={strings.trafficSummary}
      shape="steps"
      least={LEAST}
      formatTicks={bitRateTicks}
      group="vm-traffic"
    />
  )
}
