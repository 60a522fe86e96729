import { formatDelay } from '~/lib/units'
import { CurveChart, type Line } from '../curve/CurveChart'
import type { Points } from '../curve/geometry'
import { type Bins, delayTicks } from './bins'

interface Props {
  /** The accessible name of the chart. */
  label: string
  height: number
  bins: Bins[]
  /** The logarithmic axis. */
  range: readonly [number, number]
  xLabel: string
  of: (bins: Bins, range: readonly [number, number]) => Points
  formatY: (value: number) => string
  /** Names of the lines, for the legend of a picture. */
  names?: readonly string[]
  /** Colour and dashes of the n-th line. */
  style: (n: number) => Pick<Line, 'colour' | 'dash'>
}

/** Histograms of delays on one logarithmic axis, as shares or as bars. */
export function BinsChart({ label, height, bins, range, xLabel, of, formatY, style, names }: Props) {
  const lines: Line[] = bins.map((one, n) => ({
    key: String(n),
    ...(names?.[n] === undefined ? {} : { label: names[n] }),
    ...style(n),
    ...of(one, range),
  }))
  const most = Math.max(...lines.flatMap((line) => line.y), 1e-9)
  return (
    <CurveChart
      label={label}
      height={height}
      lines={lines}
      x={range}
      y={[0, most > 0.99 ? 1 : most * 1.08]}
      xLabel={xLabel}
      ticksX={(most) => delayTicks(range, most)}
      formatX={(value) => formatDelay(10 ** value)}
      formatY={formatY}
    />
  )
}
