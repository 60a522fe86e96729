import { memo } from 'react'
import { shareOf, type Track } from '~/lib/film'
import type { Severity } from '~/ui/severity'
import styles from './film.module.css'

/** An incident or an annotation; times are Unix milliseconds. */
export interface FilmMark {
  id: string
  kind: Severity | 'annotation'
  label: string
  from: number
  to: number
}

/** Spans of incidents above, annotations below the track. The text under the track names those of the shown step. */
export const TrackMarks = memo(function TrackMarks({ marks, track }: { marks: readonly FilmMark[]; track: Track }) {
  return (
    <div className={styles.marks} aria-hidden="true">
      {marks.map(({ id, kind, label, from, to }) => {
        const [left, right] = [shareOf(track, from), shareOf(track, to)]
        return (
          <span
            key={id}
            className={styles.mark}
            data-kind={kind}
            title={label}
            style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}
          />
        )
      })}
    </div>
  )
})
