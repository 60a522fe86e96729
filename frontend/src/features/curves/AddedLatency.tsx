import { Slider } from '@mantine/core'
import { useState } from 'react'
import { formatMicroseconds } from '~/lib/performance'
import styles from './curves.module.css'

interface Props {
  label: string
  value: number
  most: number
  /** Called while the slider moves. */
  onMove: (us: number) => void
  /** Called when the slider stops. */
  onRest: (us: number) => void
}

/** Microseconds added to the round trip, by slider: arrow keys move it, Home and End go to the ends. */
export function AddedLatency({ label, value, most, onMove, onRest }: Props) {
  const [settled, setSettled] = useState(value)
  // The address may change under the slider: back and forward.
  const [moving, setMoving] = useState<number | null>(null)
  if (settled !== value) {
    setSettled(value)
    setMoving(null)
  }
  const shown = moving ?? value
  return (
    <div className={styles.slider}>
      <span aria-hidden="true">{label}</span>
      <Slider
        className={styles.track}
        min={0}
        max={most}
        step={most > 200 ? 5 : 1}
        value={Math.min(shown, most)}
        label={null}
        thumbLabel={label}
        thumbValueText={formatMicroseconds(shown)}
        onChange={(us) => {
          setMoving(us)
          onMove(us)
        }}
        onChangeEnd={onRest}
      />
      <output className={styles.reading}>+{formatMicroseconds(shown)}</output>
    </div>
  )
}
