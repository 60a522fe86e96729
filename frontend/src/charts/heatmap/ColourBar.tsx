import styles from './bar.module.css'
import type { Ramp } from './palette'

interface Props {
  ramp: Ramp
  ticks: { at: number; label: string }[]
  /** Position of the value under the pointer, 0 to 1, and its text. */
  marker: { at: number; label: string } | null
}

const STOPS = Array.from({ length: 33 }, (_, i) => i / 32)

/** The ramp with its ticks; a marker shows where one value lies. */
export function ColourBar({ ramp, ticks, marker }: Props) {
  const gradient = STOPS.map((t) => `rgb(${ramp(t).join(' ')})`).join(', ')
  const at = marker && Math.min(1, Math.max(0, marker.at)) * 100
  return (
    <div className={styles.bar} aria-hidden="true">
      <div className={styles.ramp} style={{ background: `linear-gradient(to right, ${gradient})` }}>
        {marker && <div className={styles.marker} style={{ left: `${at}%` }} />}
      </div>
      <div className={styles.ticks}>
        {ticks.map((tick, i) => (
          <span
            key={tick.at}
            className={styles.tick}
            style={{
              left: `${tick.at * 100}%`,
              transform: `translateX(${i === 0 && tick.at < 0.02 ? '0' : tick.at > 0.98 ? '-100%' : '-50%'})`,
            }}
          >
            {tick.label}
          </span>
        ))}
      </div>
    </div>
  )
}
