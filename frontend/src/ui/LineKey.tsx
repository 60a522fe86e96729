import { lineStyle } from './lineStyle'
import styles from './page.module.css'

/** The n-th line of a chart, next to its name. */
export function LineKey({ n }: { n: number }) {
  const { colour, dash } = lineStyle(n)
  return (
    <svg width="28" height="10" className={styles.lineKey} aria-hidden="true">
      <line x1="0" x2="28" y1="5" y2="5" stroke={colour} strokeWidth="2.5" strokeDasharray={dash} />
    </svg>
  )
}
