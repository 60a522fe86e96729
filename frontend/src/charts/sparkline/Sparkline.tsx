import { useMemo } from 'react'
import { type Box, sparkline } from './sparkline'
import styles from './sparkline.module.css'

interface Props {
  /** The line in words. */
  label: string
  /** Times of the values, in any unit. */
  times: readonly number[]
  values: readonly (number | null)[]
  /** The usual value, as a dashed line. */
  usual: number | null
  /** A value that the scale includes. */
  from?: number
}

const BOX: Box = { width: 84, height: 22 }

/** A small line over time, without axes. */
export function Sparkline({ label, times, values, usual, from }: Props) {
  const drawn = useMemo(() => sparkline(times, values, usual, BOX, from), [times, values, usual, from])
  return (
    <svg role="img" aria-label={label} className={styles.sparkline} {...BOX} viewBox={`0 0 ${BOX.width} ${BOX.height}`}>
      <title>{label}</title>
      {drawn.usual !== null && (
        <line x1={0} x2={BOX.width} y1={drawn.usual} y2={drawn.usual} className={styles.usual} />
      )}
      <path d={drawn.line} className={styles.line} />
      {drawn.end && <circle cx={drawn.end.x} cy={drawn.end.y} r={2} className={styles.end} />}
    </svg>
  )
}
