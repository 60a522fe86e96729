import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { vmClocksQuery } from '~/api/inventory'
import type { VmClock } from '~/api/types'
import { summary, type Values } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { tickLabels } from '~/lib/metrics'
import type { TimeRange } from '~/lib/spans'
import { formatMoment } from '~/lib/time'
import { formatDelay } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime, useZoomTime } from '~/ui/time'
import { strings } from './strings'
import styles from './vm.module.css'

/** In pixels. */
const HEIGHT = 170
/** Least extent of the vertical axis, ns: nanoseconds of noise must not look like a change. */
const LEAST_NS = 1_000

/** The clock errors of a VM over time, mesh by mesh. */
export function VmClocks({ vmId }: { vmId: string }) {
  const query = useQuery(vmClocksQuery(vmId, useTime()))
  return (
    <Panel title={strings.clockHistory}>
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
  return summed && strings.clockRange(formatDelay(summed.least), formatDelay(summed.most))
}

function InMesh({ of, range }: { of: VmClock; range: TimeRange }) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const onZoom = useZoomTime()
  const [cursor, setCursor] = useState<number | null>(null)
  const times = useMemo(() => of.points_at.map((at) => Date.parse(at) / 1_000), [of])
  const lines = useMemo(
    (): Line[] => [
      { label: strings.clockMedian, colour: lineStyle(0).colour, values: of.median_ns },
      { label: strings.clockLargest, colour: lineStyle(1).colour, values: of.largest_ns, isDashed: true },
    ],
    [of],
  )
  const extent = useMemo((): [number, number] => {
    const [start, end] = [range.from, range.to].map((at) => Date.parse(at) / 1_000) as [number, number]
    // The newest step may end after the clock of this machine.
    return [start, Math.max(end, (times.at(-1) ?? 0) + of.resolution_s)]
  }, [range, times, of.resolution_s])
  const moment = cursor === null ? undefined : times[cursor]
  const isKnown = of.median_ns.some((value) => value !== null)
  return (
    <figure className={styles.clock}>
      <figcaption>
        <h3>{strings.inMesh(of.mesh.name)}</h3>
        {isKnown &&
          lines.map(({ label, colour, values }) => (
            <span key={label} className={styles.value}>
              <span className={styles.key} style={{ background: colour }} />
              {label} <strong>{cursor === null ? extentWords(values) : formatDelay(values[cursor])}</strong>
            </span>
          ))}
        <span className={styles.moment}>
          {moment === undefined
            ? strings.clockResolution(of.resolution_s)
            : formatMoment(new Date(moment * 1_000), clock)}
        </span>
      </figcaption>
      {isKnown ? (
        <div style={{ height: HEIGHT }}>
          <SeriesChart
            label={strings.clockSummary(
              of.mesh.name,
              lines.map(({ label, values }) => `${label} ${extentWords(values)}`).join('; '),
            )}
            times={times}
            lines={lines}
            range={extent}
            shape="line"
            least={LEAST_NS}
            formatTicks={(values) => {
              const { unit, labels } = tickLabels('clock_error', values)
              return labels.map((label) => `${label} ${unit}`)
            }}
            height={HEIGHT}
            group="vm-clocks"
            clock={clock}
            theme={theme}
            onCursor={setCursor}
            onZoom={onZoom}
          />
        </div>
      ) : (
        <p className={pageStyles.quiet}>{strings.noClockHistory}</p>
      )}
    </figure>
  )
}
