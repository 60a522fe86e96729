import { useMemo } from 'react'
import { changeWords, type Onset, sinceWords } from '~/lib/onset'
import { type Clock, formatMoment } from '~/lib/time'
import { Sparkline } from './Sparkline'
import styles from './sparkline.module.css'

interface Props {
  /** ns */
  usualNs: number | null
  nowNs: number | null
  since: Onset & { last_hour: { points_at: readonly string[]; delay_ns: readonly (number | null)[] } }
  clock: Clock
  /** Unix ms. */
  now: number
}

/** The last hour of an unusual path as a small line, and since when it is unusual. */
export function Trend({ usualNs, nowNs, since, clock, now }: Props) {
  const { points_at, delay_ns } = since.last_hour
  const times = useMemo(() => points_at.map((at) => Date.parse(at)), [points_at])
  const words = sinceWords(since, clock, now)
  const onset = new Date(since.onset_at)
  return (
    <div className={styles.trend}>
      <Sparkline label={changeWords(usualNs, nowNs, words)} times={times} values={delay_ns} usual={usualNs} />
      <time dateTime={since.onset_at} title={formatMoment(onset, clock)}>
        {words}
      </time>
    </div>
  )
}
