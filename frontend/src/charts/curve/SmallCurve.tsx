import styles from './curve.module.css'
import { type Band, bandPath, linePath, type Points, scales } from './geometry'

const WIDTH = 240
const HEIGHT = 96

/** A small curve; its name is next to it, so screen readers skip it. */
export function SmallCurve({ points, band, colour }: { points: Points; band: Band | null; colour: string }) {
  const end = points.x.at(-1) ?? 1
  const to = scales({
    width: WIDTH,
    height: HEIGHT,
    left: 1,
    right: 1,
    top: 6,
    bottom: 1,
    x: [0, end],
    y: [0, 1],
  })
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={styles.small} aria-hidden="true">
      {[0, 0.5, 1].map((value) => (
        <line key={value} x1={1} x2={WIDTH - 1} y1={to.y(value)} y2={to.y(value)} className={styles.grid} />
      ))}
      {band && <path d={bandPath(band, to)} fill={colour} opacity={0.18} />}
      <path d={linePath(points, to)} fill="none" stroke={colour} strokeWidth={2} strokeLinejoin="round" />
    </svg>
  )
}
