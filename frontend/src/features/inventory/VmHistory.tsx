import { useComputedColorScheme } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import type { Values } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import type { TimeRange } from '~/lib/spans'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { useZoomTime } from '~/ui/time'
import styles from './vm.module.css'

/** In pixels. */
const HEIGHT = 170

interface Props {
  heading?: string
  steps: { points_at: string[]; resolution_s: number }
  range: TimeRange
  lines: Line[]
  format: (value: number | null | undefined) => string
  /** The extent of a line in words, when no moment is chosen. */
  extentWords: (values: Values) => string | null
  /** The length of a step in words, when no moment is chosen. */
  resolution: string
  /** The chart in words. */
  summary: (lines: string) => string
  shape: 'line' | 'steps'
  /** Least extent of the vertical axis. */
  least: number
  formatTicks: (values: number[]) => string[]
  group: string
  /** What stands below the chart at the chosen moment. */
  below?: (cursor: number | null) => ReactNode
}

/** Figures of a VM over time: a chart, and the value of each line at the chosen moment. */
export function VmHistory({ heading, steps, range, lines, below, ...words }: Props) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const onZoom = useZoomTime()
  const [cursor, setCursor] = useState<number | null>(null)
  const times = useMemo(() => steps.points_at.map((at) => Date.parse(at) / 1_000), [steps])
  const extent = useMemo((): [number, number] => {
    const [start, end] = [range.from, range.to].map((at) => Date.parse(at) / 1_000) as [number, number]
    // The newest step may end after the clock of this machine.
    return [start, Math.max(end, (times.at(-1) ?? 0) + steps.resolution_s)]
  }, [range, times, steps.resolution_s])
  const moment = cursor === null ? undefined : times[cursor]
  return (
    <figure className={styles.clock}>
      <figcaption>
        {heading && <h3>{heading}</h3>}
        {lines.map(({ label, colour, values }) => (
          <span key={label} className={styles.value}>
            <span className={styles.key} style={{ background: colour }} />
            {label} <strong>{cursor === null ? words.extentWords(values) : words.format(values[cursor])}</strong>
          </span>
        ))}
        <span className={styles.moment}>
          {moment === undefined ? words.resolution : formatMoment(new Date(moment * 1_000), clock)}
        </span>
      </figcaption>
      <div style={{ height: HEIGHT }}>
        <SeriesChart
          label={words.summary(lines.map(({ label, values }) => `${label} ${words.extentWords(values)}`).join('; '))}
          times={times}
          lines={lines}
          range={extent}
          shape={words.shape}
          least={words.least}
          formatTicks={words.formatTicks}
          height={HEIGHT}
          group={words.group}
          clock={clock}
          theme={theme}
          onCursor={setCursor}
          onZoom={onZoom}
        />
      </div>
      {below?.(cursor)}
    </figure>
  )
}
