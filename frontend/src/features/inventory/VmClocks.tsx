import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { vmClocksQuery } from '~/api/inventory'
import type { VmClock } from '~/api/types'
import { summary, type Values } from '~/charts/series/lines'
import type { Line } from '~/charts/series/SeriesChart'
import { tickLabels } from '~/lib/metrics'
import type { TimeRange } from '~/lib/spans'
import { formatDelay } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime } from '~/ui/time'
import { strings } from './strings'
import { VmHistory } from './VmHistory'
import styles from './vm.module.css'

/** Least extent of the vertical axis, ns: nanoseconds of noise must not look like a change. */
const LEAST_NS = 1_000

/** The clock errors of a VM over time, mesh by mesh. */
export function VmClocks({ vmId }: { vmId: string }) {
  const query = useQuery(vmClocksQuery(vmId, useTime()))
  return (
    <Panel title={strings.clockError}>
      <p className={pageStyles.lead}>{strings.clockHistoryLead}</p>
      <div className={styles.clocks}>
        <QueryResult query={query} what={strings.clockHistoryLower}>
          {({ meshes, range }) =>
            meshes.length === 0 ? (
              <p className={pageStyles.quiet}>{strings.noClockHistory}</p>
            ) : (
              meshes.map((of) => <InMesh key={of.mesh.id} of={of} range={range} />)
            )
          }
        </QueryResult>
      </div>
    </Panel>
  )
}

/** "1.20 µs to 4.00 µs" */
function extentWords(values: Values): string | null {
  const summed = summary(values)
  return summed && strings.range(formatDelay(summed.least), formatDelay(summed.most))
}

function InMesh({ of, range }: { of: VmClock; range: TimeRange }) {
  const lines = useMemo(
    (): Line[] => [
      { label: strings.clockMedian, colour: lineStyle(0).colour, values: of.median_ns },
      { label: strings.clockLargest, colour: lineStyle(1).colour, values: of.largest_ns, isDashed: true },
    ],
    [of],
  )
  const heading = strings.inMesh(of.mesh.name)
  if (of.median_ns.every((value) => value === null)) {
    return (
      <figure className={styles.clock}>
        <figcaption>
          <h3>{heading}</h3>
        </figcaption>
        <p className={pageStyles.quiet}>{strings.noClockHistory}</p>
      </figure>
    )
  }
  return (
    <VmHistory
      heading={heading}
      steps={of}
      range={range}
      lines={lines}
      format={formatDelay}
      extentWords={extentWords}
      resolution={strings.clockResolution(of.resolution_s)}
      summary={(values) => strings.clockSummary(of.mesh.name, values)}
      shape="line"
      least={LEAST_NS}
      formatTicks={ticks}
      group="vm-clocks"
    />
  )
}

function ticks(values: number[]): string[] {
  const { unit, labels } = tickLabels('clock_error', values)
  return labels.map((label) => `${label} ${unit}`)
}
