import { endOf } from '~/lib/film'
import { useClock } from '~/ui/clock'
import styles from '../matrix.module.css'
import { stepWords } from './Film'
import { strings } from './strings'
import type { FilmState } from './useFilm'

/** The time of the shown step, where a live heatmap has that of its window. */
export function StepStamp({ film: { index, track } }: { film: FilmState }) {
  const clock = useClock()
  if (index === null) return null
  return (
    <p className={styles.stamp}>
      {stepWords(endOf(track, index), track.step_ms, clock)}
      <span className={styles.age}>{strings.playback}</span>
    </p>
  )
}
