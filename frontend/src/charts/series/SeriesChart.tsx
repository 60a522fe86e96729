import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { resolveColour } from '~/lib/picture/colour'
import { type Drawing, offerDrawing } from '~/lib/picture/drawing'
import { aroundPrinting, drawnWidth } from '~/lib/printing'
import { type Clock, tickNames } from '~/lib/time'
import { seriesDrawing } from './drawing'
import { band, isolated, type Values } from './lines'
import { type Mark, marksPlugin } from './marks'
import styles from './series.module.css'
import { type Limit, type Span, spansPlugin, withLimits } from './spans'

export interface Line {
  label: string
  /** A CSS colour, custom properties included. */
  colour: string
  values: Values
  /** Half the width of a band around the line. */
  error?: Values
  isDashed?: boolean
}

interface Props {
  /** The accessible name of the chart. */
  label: string
  /** Seconds since 1970, one per value. */
  times: number[]
  lines: Line[]
  /** The whole requested range, seconds since 1970: gaps at either end stay visible. */
  range: [number, number]
  /** Each value holds for its whole interval (steps), or is one point of a line. */
  shape: 'line' | 'steps'
  /** The least extent of the vertical axis; it starts at zero where this is given. */
  least?: number
  formatTicks: (values: number[]) => string[]
  /** Times shaded behind the lines. */
  spans?: readonly Span[]
  /** Horizontal dashed lines; the vertical axis shows them all. */
  limits?: readonly Limit[]
  height: number
  /** Charts with the same name share one cursor. */
  group: string
  clock: Clock
  /** Changes when colours must be read again. */
  theme: string
  onCursor: (index: number | null) => void
  /** Called with the range that was dragged over, seconds since 1970. */
  onZoom?: (start: number, end: number) => void
  /** Events and spans on the time axis. */
  marks?: readonly Mark[] | undefined
}

function withAlpha(colour: string, alpha: number): string {
  return `rgb(from ${colour} r g b / ${alpha})`
}

function tables({ times, lines }: Pick<Props, 'times' | 'lines'>): uPlot.AlignedData {
  const columns: (number | null)[][] = lines.map((line) => [...line.values])
  for (const line of lines) {
    if (!line.error) continue
    const { low, high } = band(line.values, line.error)
    columns.push(high, low)
  }
  return [times, ...columns]
}

/** Return the vertical extent of a chart with a least one or with limits. */
function extent({ least, limits }: Props, low: number | null, most: number | null): [number, number] {
  if (least === undefined) return withLimits(limits, low, most)
  return [0, Math.max(least, withLimits(limits, 0, most)[1])]
}

/** Options of the chart. Data, range and callbacks are read through `current` each time they are needed. */
function options(element: HTMLElement, current: () => Props): uPlot.Options {
  const { lines, clock, shape, group, height } = current()
  const ink = resolveColour(element, 'var(--ink-3)')
  const grid = resolveColour(element, 'var(--line)')
  const font = '11px "Inter Variable", system-ui, sans-serif'
  const axis: uPlot.Axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
  const withBand = lines.filter((line) => line.error)
  const stepped = uPlot.paths.stepped?.({ align: 1 })
  return {
    width: Math.max(200, drawnWidth(element)),
    height,
    legend: { show: false },
    cursor: {
      sync: { key: group },
      drag: { x: current().onZoom !== undefined, y: false, setScale: false },
      points: { size: 7 },
      y: false,
      // The pointer is in pixels of the screen, which a wall screen magnifies.
      move: ({ over }, left, top) => {
        const zoom = over.getBoundingClientRect().width / over.offsetWidth || 1
        return [left / zoom, top / zoom]
      },
    },
    scales: {
      x: { time: true, range: () => current().range },
      y: { range: (_, low, most) => extent(current(), low, most) },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 30,
        values: (_, splits, __, ___, increment) =>
          tickNames(
            splits.map((at) => new Date(at * 1_000)),
            increment * 1_000,
            clock,
          ),
      },
      { ...axis, size: 62, space: 36, values: (_, splits) => current().formatTicks(splits) },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => {
        const stroke = resolveColour(element, line.colour)
        return {
          label: line.label,
          stroke,
          width: 1.5,
          ...(line.isDashed ? { dash: [4, 4] } : {}),
          spanGaps: false,
          ...(shape === 'steps' && stepped ? { paths: stepped } : {}),
          points: {
            show: true,
            size: 4,
            fill: stroke,
            filter: (u, series) => isolated((u.data[series] ?? []) as Values),
          },
        }
      }),
      ...withBand.flatMap((): uPlot.Series[] => [
        { stroke: 'transparent', points: { show: false } },
        { stroke: 'transparent', points: { show: false } },
      ]),
    ],
    bands: withBand.map((line, i) => ({
      series: [1 + lines.length + 2 * i, 2 + lines.length + 2 * i],
      fill: withAlpha(resolveColour(element, line.colour), 0.13),
    })),
    ...(clock === 'utc' ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC') } : {}),
    hooks: {
      setCursor: [(u) => current().onCursor(u.cursor.idx ?? null)],
      setSelect: [
        (u) => {
          if (u.select.width <= 0) return
          const [start, end] = [u.select.left, u.select.left + u.select.width].map((x) => u.posToVal(x, 'x'))
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          current().onZoom?.(start as number, end as number)
        },
      ],
    },
    plugins: [
      spansPlugin(current, (colour, alpha) =>
        alpha === undefined ? resolveColour(element, colour) : withAlpha(resolveColour(element, colour), alpha),
      ),
      marksPlugin(() => current().marks ?? [], {
        line: resolveColour(element, 'var(--mark)'),
        shade: withAlpha(resolveColour(element, 'var(--mark)'), 0.09),
        text: resolveColour(element, 'var(--ink-2)'),
        page: resolveColour(element, 'var(--page)'),
      }),
    ],
  }
}

/** Return the chart as it is drawn now, for a file. */
function drawingOf(element: HTMLElement, plot: uPlot, props: Props): Drawing {
  const { min, max } = plot.scales.y ?? {}
  return seriesDrawing({
    ...props,
    width: Math.max(200, element.clientWidth),
    extent: [min ?? 0, max ?? 1],
    spans: props.spans ?? [],
    limits: props.limits ?? [],
    marks: props.marks ?? [],
    resolve: (colour) => resolveColour(element, colour),
  })
}

/** Lines over time. Gaps stay gaps, nothing is smoothed. */
export function SeriesChart(props: Props) {
  const holder = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  const structure = props.lines.map((line) => `${line.label}${line.error ? '±' : ''}`).join()

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is rebuilt only when what it is built of changes; data follow below
  useEffect(() => {
    const element = holder.current
    if (!element) return
    const plot = new uPlot(
      options(element, () => latest.current),
      tables(latest.current),
      element,
    )
    chart.current = plot
    const withdraw = offerDrawing(element, () => drawingOf(element, plot, latest.current))
    const fit = () => plot.setSize({ width: drawnWidth(element), height: props.height })
    const observer = new ResizeObserver(fit)
    const stop = aroundPrinting(fit, fit)
    observer.observe(element)
    return () => {
      observer.disconnect()
      stop()
      withdraw()
      plot.destroy()
      chart.current = null
    }
  }, [structure, props.theme, props.clock, props.group, props.shape, props.height])

  useEffect(() => {
    chart.current?.setData(tables({ times: props.times, lines: props.lines }))
  }, [props.times, props.lines])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the plugins read them when they draw
  useEffect(() => chart.current?.redraw(false), [props.marks, props.spans, props.limits])

  return <div ref={holder} className={styles.chart} role="img" aria-label={props.label} />
}
