import { useQuery } from '@tanstack/react-query'
import { demonstrationQuery } from '~/api/demonstration'
import { formatAge } from '~/lib/time'
import { formatCount, formatSignedPercent } from '~/lib/units'
import { useNow } from '~/ui/useNow'
import styles from './shell.module.css'
import { strings } from './strings'

/** The part that the demonstration plays now, its cost, and the start of the next part. Empty where none is played. */
export function DemonstrationStrip() {
  const { data } = useQuery(demonstrationQuery)
  const now = useNow(1_000)
  const playing = data?.playing
  if (!playing) return null
  const { chapter, observed, notified } = playing
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
      <span>{strings.demonstrationNext(formatAge(new Date(chapter.ends_at).getTime() - now))}</span>
    </aside>
  )
}
