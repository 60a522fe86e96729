import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useDrawnSvg } from '../useDrawnSvg'
import styles from './curve.module.css'
import { type Band, bandPath, fiveMarks, linePath, type Points, scales } from './geometry'

export interface Line extends Points {
  key: string
  /** The name of the line in the legend of a picture. */
  label?: string
  colour: string
  /** `stroke-dasharray`, so that lines differ by more than colour. */
  dash?: string
  band?: Band | null
}

export interface Dot {
  x: number
  y: number
  /** Half the length of the bar through it. */
  error: number | null
}

/** A vertical mark; with an interval, a stripe behind it. */
export interface Mark {
  key: string
  x: number
  label: string
  colour: string
  interval?: readonly [number, number] | null
}

/** A distribution drawn below the axis: percentiles 0 … 100 on the scale of x. */
export interface Strip {
  key: string
  label: string
  colour: string
  percentiles: readonly number[]
}

interface Props {
  /** The accessible name of the chart. */
  label: string
  height: number
  lines: Line[]
  dots?: Dot[]
  marks?: Mark[]
  strips?: Strip[]
  x: readonly [number, number]
  y: readonly [number, number]
  /** The measured range of the lines; the area beyond is hatched. */
  domainEnd?: number
  xLabel: string
  /** Places of labels on the axis, at most about `most`; even steps when absent. */
  ticksX?: (most: number) => number[]
  formatX: (value: number) => string
  formatY: (value: number) => string
}

const STRIP = 26

/** Curves with their bands and samples, and distributions below. */
export function CurveChart(props: Props) {
  const { ref, width } = useElementSize()
  const strips = props.strips ?? []
  const bottom = 42 + strips.length * STRIP
  const total = props.height + strips.length * STRIP
  const to = scales({ width, height: total, left: 48, right: 26, top: 20, bottom, x: props.x, y: props.y })
  const [left, right] = to.x.range() as [number, number]
  const [floor, ceiling] = to.y.range() as [number, number]
  const ticksX = props.ticksX ?? ((most: number) => to.x.ticks(most))
  const inside = (value: number) => Math.min(right, Math.max(left, to.x(value)))
  const marks = props.marks?.filter(({ x }) => x >= props.x[0] && x <= props.x[1]) ?? []
  const end = props.domainEnd === undefined ? right : inside(props.domainEnd)
  const holder = useMergedRef(ref, useDrawnSvg({ lines: props.lines, xLabel: props.xLabel }))
  return (
    <div ref={holder} className={styles.chart} style={{ height: total }}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${total}`} width={width} height={total} role="img" aria-label={props.label}>
          <defs>
            <pattern id="beyond" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <line x1="0" y1="0" x2="0" y2="6" className={styles.hatch} />
            </pattern>
          </defs>
          <rect
            x={left}
            y={ceiling}
            width={Math.max(0, end - left)}
            height={floor - ceiling}
            className={styles.domain}
          />
          {end < right && (
            <>
              <rect x={end} y={ceiling} width={right - end} height={floor - ceiling} fill="url(#beyond)" />
              {right - end > 70 && (
                <text x={end + 6} y={ceiling + 14} className={styles.quiet}>
                  not measured
                </text>
              )}
            </>
          )}
          {to.y.ticks(5).map((value) => (
            <g key={value}>
              <line x1={left} x2={right} y1={to.y(value)} y2={to.y(value)} className={styles.grid} />
              <text x={left - 8} y={to.y(value)} dy="0.32em" textAnchor="end" className={styles.tick}>
                {props.formatY(value)}
              </text>
            </g>
          ))}
          {ticksX(Math.max(2, Math.floor(width / 110))).map((value) => (
            <text key={value} x={to.x(value)} y={floor + 16} textAnchor="middle" className={styles.tick}>
              {props.formatX(value)}
            </text>
          ))}
          <text x={right} y={floor + 34} textAnchor="end" className={styles.quiet}>
            {props.xLabel}
          </text>
          {props.marks?.map(
            (mark) =>
              mark.interval && (
                <rect
                  key={mark.key}
                  x={inside(mark.interval[0])}
                  y={ceiling}
                  width={Math.max(0, inside(mark.interval[1]) - inside(mark.interval[0]))}
                  height={floor - ceiling}
                  fill={mark.colour}
                  opacity={0.12}
                />
              ),
          )}
          {props.lines.map(
            (line) =>
              line.band && <path key={line.key} d={bandPath(line.band, to)} fill={line.colour} opacity={0.18} />,
          )}
          {marks.map((mark) => (
            <line
              key={mark.key}
              x1={to.x(mark.x)}
              x2={to.x(mark.x)}
              y1={ceiling}
              y2={floor}
              stroke={mark.colour}
              strokeDasharray="3 3"
            />
          ))}
          {marks.map((mark, i) => (
            <text
              key={mark.key}
              x={to.x(mark.x) + (to.x(mark.x) > right - 120 ? -5 : 5)}
              y={floor - 8 - i * 16}
              textAnchor={to.x(mark.x) > right - 120 ? 'end' : 'start'}
              fill={mark.colour}
              className={styles.mark}
            >
              {mark.label}
            </text>
          ))}
          {props.lines.map((line) => (
            <path
              key={line.key}
              d={linePath(line, to)}
              fill="none"
              stroke={line.colour}
              strokeWidth={2}
              strokeDasharray={line.dash}
              strokeLinejoin="round"
            />
          ))}
          {props.dots?.map((dot) => (
            <g key={`${dot.x} ${dot.y}`} className={styles.dot}>
              {dot.error !== null && (
                <line x1={to.x(dot.x)} x2={to.x(dot.x)} y1={to.y(dot.y - dot.error)} y2={to.y(dot.y + dot.error)} />
              )}
              <circle cx={to.x(dot.x)} cy={to.y(dot.y)} r={3.5} />
            </g>
          ))}
          {strips.map((strip, i) => {
            const [p1, p25, p50, p75, p99] = fiveMarks(strip.percentiles).map(inside) as [
              number,
              number,
              number,
              number,
              number,
            ]
            const y = floor + 52 + i * STRIP
            return (
              <g key={strip.key} fill={strip.colour} stroke={strip.colour}>
                <line x1={p1} x2={p99} y1={y} y2={y} strokeWidth={1.5} />
                <rect x={p25} y={y - 5} width={Math.max(1, p75 - p25)} height={10} opacity={0.4} stroke="none" />
                <line x1={p50} x2={p50} y1={y - 7} y2={y + 7} strokeWidth={2.5} />
                <text x={left - 8} y={y} dy="0.32em" textAnchor="end" className={styles.mark}>
                  {strip.label}
                </text>
              </g>
            )
          })}
        </svg>
      )}
    </div>
  )
}
