import { useMemo } from 'react'
import { tickLabels } from '~/lib/metrics'
import type { Clock } from '~/lib/time'
import { type Line, SeriesChart } from '../series/SeriesChart'

interface Props {
  /** The accessible name of the chart. */
  label: string
  /** Start of the window, RFC 3339, and the time of each exchange after it, ns. */
  startedAt: string
  atNs: number[]
  lines: Line[]
  clock: Clock
  theme: string
  onCursor: (index: number | null) => void
}

const HEIGHT = 240

const ticks = (values: number[]) => {
  const { unit, labels } = tickLabels('asymmetry', values)
  return labels.map((label) => `${label} ${unit}`)
}

/** Single exchanges over the seconds that they took. */
export function ExchangesChart({ label, startedAt, atNs, lines, clock, theme, onCursor }: Props) {
  const times = useMemo(() => {
    const start = Date.parse(startedAt) / 1_000
    return atNs.map((at) => start + at / 1e9)
  }, [startedAt, atNs])
  const first = times[0] ?? 0
  const last = times.at(-1) ?? first
  const room = Math.max((last - first) * 0.03, 0.05)
  return (
    <SeriesChart
      label={label}
      times={times}
      range={[first - room, last + room]}
      lines={lines}
      shape="line"
      formatTicks={ticks}
      height={HEIGHT}
      group="evidence"
      clock={clock}
      theme={theme}
      onCursor={onCursor}
    />
  )
}
