import { serverNow } from '~/api/connection'
import { type Clock, formatAge, formatMoments } from '~/lib/time'
import { useNow } from '~/ui/useNow'
import styles from './matrix.module.css'
import { strings } from './strings'

/** After this many windows without a new one, the age is a warning. */
const LATE_WINDOWS = 3

/** Time and age of the shown window. */
export function WindowStamp({ end, windowS, clock }: { end: Date | null; windowS: number; clock: Clock }) {
  const now = useNow(1_000, serverNow)
  if (!end) return <p className={styles.stamp}>{strings.noWindow}</p>
  const age = now - end.getTime()
  const isLate = age > LATE_WINDOWS * windowS * 1_000
  return (
    <p className={styles.stamp} data-late={isLate || undefined}>
      {strings.windowAt(formatMoments(new Date(end.getTime() - windowS * 1_000), end, clock, now))}
      <span className={styles.age}>{isLate ? strings.noNewWindow(formatAge(age)) : strings.ago(formatAge(age))}</span>
    </p>
  )
}
