import { LineKey } from '~/ui/LineKey'
import styles from './advisors.module.css'

/** Names of the lines of a chart; `n` is the rank of a line's style. */
export function Legend({ lines }: { lines: readonly { label: string; n: number }[] }) {
  return (
    <ul className={styles.legend}>
      {lines.map(({ label, n }) => (
        <li key={label}>
          <LineKey n={n} /> {label}
        </li>
      ))}
    </ul>
  )
}
