/** A line chart over time as SVG, with the extents that it has on the page. */

import { scaleLinear, scaleTime, scaleUtc } from 'd3-scale'
import { area, curveStepAfter, line } from 'd3-shape'
import type { Drawing, Key, Table } from '~/lib/picture/drawing'
import { svg } from '~/lib/picture/svg'
import { type Clock, formatRange, tickNames } from '~/lib/time'
import { band, isolated, type Values } from './lines'
import { fitted, type Mark, placeMarks } from './marks'
import { clipped, type Limit, type Span } from './spans'

export interface SeriesShape {
  width: number
  height: number
  times: readonly number[]
  lines: readonly { label: string; colour: string; values: Values; error?: Values; isDashed?: boolean }[]
  range: readonly [number, number]
  extent: readonly [number, number]
  shape: 'line' | 'steps'
  formatTicks: (values: number[]) => string[]
  spans: readonly Span[]
  limits: readonly Limit[]
  marks: readonly Mark[]
  clock: Clock
  /** Returns a colour without custom properties. */
  resolve: (colour: string) => string
}

const ROOM = { left: 62, right: 8, top: 8, bottom: 28 }
const FONT = 11
const CHARACTER = 6.2

/** Return the drawing of a line chart. */
export function seriesDrawing(chart: SeriesShape): Drawing {
  const { width, height, range, extent, resolve, clock } = chart
  const dates = range.map((at) => new Date(at * 1_000)) as [Date, Date]
  const across = [ROOM.left, Math.max(ROOM.left + 1, width - ROOM.right)] as const
  const x = (clock === 'utc' ? scaleUtc() : scaleTime()).domain(dates).range(across)
  const y = scaleLinear(extent, [height - ROOM.bottom, ROOM.top])
  const [left, right] = across
  const [floor, ceiling] = [height - ROOM.bottom, ROOM.top]
  const ink = resolve('var(--ink-3)')
  const text = (attributes: Record<string, string | number>, content: string) =>
    svg('text', { 'font-size': FONT, fill: ink, ...attributes }, content)
  const levels = y.ticks(Math.max(2, Math.floor(height / 45)))
  const names = chart.formatTicks(levels)
  const moments = x.ticks(Math.max(2, Math.floor(width / 110)))
  const step = (moments[1]?.getTime() ?? 0) - (moments[0]?.getTime() ?? 0)
  const momentNames = tickNames(moments, step, clock)
  const xOf = (at: number) => x(new Date(at * 1_000))
  const clip = { 'clip-path': 'url(#plot)' }
  return {
    width,
    height,
    body: [
      svg(
        'defs',
        {},
        svg(
          'clipPath',
          { id: 'plot' },
          svg('rect', { x: left, y: ceiling, width: right - left, height: floor - ceiling }),
        ),
      ),
      ...chart.spans.flatMap((span) => {
        const part = clipped(span, range as [number, number])
        if (!part) return []
        const [start, end] = part.map(xOf) as [number, number]
        const box = { x: start, y: ceiling, width: end - start, height: floor - ceiling }
        return [svg('rect', { ...box, fill: resolve(span.colour), 'fill-opacity': 0.12 })]
      }),
      ...levels.flatMap((level, i) => [
        svg('line', { x1: left, x2: right, y1: y(level), y2: y(level), stroke: resolve('var(--line)') }),
        text({ x: left - 8, y: y(level) + 4, 'text-anchor': 'end' }, names[i] ?? ''),
      ]),
      ...moments.map((at, n) => text({ x: x(at), y: floor + 18, 'text-anchor': 'middle' }, momentNames[n] ?? '')),
      ...marksOf(chart, left, right, floor, ceiling),
      svg('g', clip, ...linesOf(chart, xOf, y)),
      ...chart.limits.flatMap(({ value, colour, label }) => [
        svg('line', {
          ...{ x1: left, x2: right, y1: y(value), y2: y(value) },
          ...{ stroke: resolve(colour), 'stroke-dasharray': '6 4' },
        }),
        text({ x: right - 4, y: y(value) - 4, 'text-anchor': 'end', fill: resolve(colour) }, label),
      ]),
    ],
    keys: [
      ...chart.lines.map(({ label, colour, isDashed }) => ({
        label,
        colour: resolve(colour),
        dash: isDashed ? '4 4' : undefined,
      })),
      ...shadesOf(chart),
    ],
    range: formatRange(dates[0], dates[1], clock),
    table: tableOf(chart),
  }
}

/** Return one entry of the legend for each kind of shade in the range. */
function shadesOf({ spans, range, resolve }: SeriesShape): Key[] {
  const shown = spans.filter((span) => clipped(span, range as [number, number]))
  const colours = new Map(shown.flatMap(({ label, colour }) => (label ? [[label, colour]] : [])))
  return [...colours].map(([label, colour]) => ({ label, colour: resolve(colour), opacity: 0.12, isArea: true }))
}

function linesOf(
  { times, lines, shape, resolve }: SeriesShape,
  xOf: (at: number) => number,
  y: (value: number) => number,
): SVGElement[] {
  const pixel = (value: number) => Math.round(value * 100) / 100
  const place = (i: number) => pixel(xOf(times[i] as number))
  return lines.flatMap(({ values, error, colour, isDashed }) => {
    const stroke = resolve(colour)
    const indices = values.map((_, i) => i)
    const path = line<number>(place, (i) => pixel(y(values[i] as number))).defined((i) => values[i] != null)
    if (shape === 'steps') path.curve(curveStepAfter)
    const edges = error && band(values, error)
    const around =
      edges &&
      area<number>(
        place,
        (i) => pixel(y(edges.low[i] as number)),
        (i) => pixel(y(edges.high[i] as number)),
      ).defined((i) => edges.low[i] != null && edges.high[i] != null)(indices)
    return [
      ...(around ? [svg('path', { d: around, fill: stroke, 'fill-opacity': 0.13 })] : []),
      svg('path', {
        ...{ d: path(indices) ?? '', fill: 'none', stroke },
        ...{ 'stroke-width': 1.5, 'stroke-dasharray': isDashed ? '4 4' : undefined },
      }),
      ...isolated(values).map((i) =>
        svg('circle', { cx: place(i), cy: pixel(y(values[i] as number)), r: 2, fill: stroke }),
      ),
    ]
  })
}

/** Lines of events, shades of spans, and their labels. */
function marksOf(
  { marks, range, resolve }: SeriesShape,
  left: number,
  right: number,
  floor: number,
  ceiling: number,
): SVGElement[] {
  const colour = resolve('var(--mark)')
  return placeMarks(marks, range as [number, number], right - left).flatMap((placed) => {
    const [x, y, height] = [left + placed.left, ceiling, floor - ceiling]
    const label = fitted(placed.mark.label, placed.room - 8, (part) => part.length * CHARACTER)
    return [
      svg('rect', { x, y, width: placed.right - placed.left, height, fill: colour, 'fill-opacity': 0.09 }),
      svg('line', { x1: x, x2: x, y1: ceiling, y2: floor, stroke: colour }),
      svg('text', { x: x + 4, y: ceiling + 12, 'font-size': FONT, fill: resolve('var(--ink-2)') }, label),
    ]
  })
}

/** Return the values with their times in UTC; errors follow their line. */
function tableOf({ times, lines }: SeriesShape): Table {
  const columns = lines.flatMap(({ label, values, error }) => [
    { name: label, values },
    ...(error ? [{ name: `${label} ±`, values: error }] : []),
  ])
  return {
    columns: ['time', ...columns.map(({ name }) => name)],
    rows: times.map((at, i) => [new Date(at * 1_000).toISOString(), ...columns.map(({ values }) => values[i] ?? null)]),
  }
}
