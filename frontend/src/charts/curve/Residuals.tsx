import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useDrawnSvg } from '../useDrawnSvg'
import styles from './curve.module.css'
import { scales } from './geometry'

interface Props {
  label: string
  height: number
  x: readonly [number, number]
  /** Distance of each point from the curve, in standard errors. */
  dots: { x: number; y: number }[]
  formatX: (value: number) => string
}

/** Distances of points from their curve. By chance, one in twenty lies outside the shaded band. */
export function Residuals({ label, height, x, dots, formatX }: Props) {
  const { ref, width } = useElementSize()
  const most = Math.max(3, ...dots.map(({ y }) => Math.abs(y))) * 1.08
  const to = scales({ width, height, left: 48, right: 26, top: 8, bottom: 26, x, y: [-most, most] })
  const [left, right] = to.x.range() as [number, number]
  const [floor] = to.y.range() as [number, number]
  const holder = useMergedRef(ref, useDrawnSvg())
  return (
    <div ref={holder} className={styles.chart} style={{ height }}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
          <rect x={left} width={right - left} y={to.y(2)} height={to.y(-2) - to.y(2)} className={styles.domain} />
          {[-2, 0, 2].map((value) => (
            <g key={value}>
              <line x1={left} x2={right} y1={to.y(value)} y2={to.y(value)} className={styles.grid} />
              <text x={left - 8} y={to.y(value)} dy="0.32em" textAnchor="end" className={styles.tick}>
                {value < 0 ? `−${-value}` : value}
              </text>
            </g>
          ))}
          {to.x.ticks(Math.max(2, Math.floor(width / 110))).map((value) => (
            <text key={value} x={to.x(value)} y={floor + 16} textAnchor="middle" className={styles.tick}>
              {formatX(value)}
            </text>
          ))}
          {dots.map((dot) => (
            <g key={`${dot.x} ${dot.y}`} className={styles.dot}>
              <line x1={to.x(dot.x)} x2={to.x(dot.x)} y1={to.y(0)} y2={to.y(dot.y)} />
              <circle cx={to.x(dot.x)} cy={to.y(dot.y)} r={3.5} />
            </g>
          ))}
        </svg>
      )}
    </div>
  )
}
