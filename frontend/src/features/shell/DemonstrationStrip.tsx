import { useQuery } from '@tanstack/react-query'
import { demonstrationQuery } from '~/api/demonstration'
import { formatShare } from '~/lib/performance'
import { formatAge } from '~/lib/time'
import { formatCount, formatSignedPercent } from '~/lib/units'
import { useNow } from '~/ui/useNow'
import styles from './shell.module.css'
import { strings } from './strings'

// The packets of the demonstration are real: from about here its own machine adds tens of microseconds.
const BUSY_PERCENT = 40

/** The part that the demonstration plays now, its cost, and the start of the next part. Empty where none is played. */
export function DemonstrationStrip() {
  const { data } = useQuery(demonstrationQuery)
  const now = useNow(1_000)
  const playing = data?.playing
  if (!playing) return null
  const { chapter, observed, notified, waiting_percent } = playing
  const isBusy = waiting_percent != null && waiting_percent > BUSY_PERCENT
  return (
    <aside className={styles.demonstration} aria-label={strings.demonstration}>
      <strong>
        {strings.demonstration}: {chapter.title}
      </strong>
      <span>{chapter.text}</span>
      {observed && (
        <span>
          {strings.demonstrationWork(
            observed.application,
            formatCount(Math.round(observed.now_per_s)),
            formatSignedPercent(100 * (observed.now_per_s / observed.usual_per_s - 1)),
          )}
        </span>
      )}
      {notified && <span>{strings.demonstrationNotified(notified.title)}</span>}
      {isBusy && <span>{strings.demonstrationBusy(formatShare(waiting_percent / 100))}</span>}
      <span>{strings.demonstrationNext(formatAge(new Date(chapter.ends_at).getTime() - now))}</span>
    </aside>
  )
}
