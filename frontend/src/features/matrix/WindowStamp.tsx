import { serverNow } from '~/api/connection'
import { type Clock, formatAge, formatWindow } from '~/lib/time'
import { useNow } from '~/ui/useNow'
import styles from './matrix.module.css'

/** After this many windows without a new one, the age is a warning. */
const LATE_WINDOWS = 3

/** When what is shown was measured, and how old that is. */
export function WindowStamp({ end, windowS, clock }: { end: Date | null; windowS: number; clock: Clock }) {
  const now = useNow(1_000, serverNow)
  if (!end) return <p className={styles.stamp}>No window yet</p>
  const age = now - end.getTime()
  const isLate = age > LATE_WINDOWS * windowS * 1_000
  return (
    <p className={styles.stamp} data-late={isLate || undefined}>
      Window {formatWindow(new Date(end.getTime() - windowS * 1_000), end, clock)}
      <span className={styles.age}>{isLate ? `nothing new for ${formatAge(age)}` : `${formatAge(age)} ago`}</span>
    </p>
  )
}
