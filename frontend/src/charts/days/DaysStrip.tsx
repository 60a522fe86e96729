import { type KeyboardEvent, type PointerEvent, useMemo, useState } from 'react'
import { eventAround, rangeOf, type Slot } from '~/lib/days'
import styles from './days.module.css'

interface Props {
  label: string
  /** Shown while no hour is pointed at. */
  hint: string
  slots: readonly Slot[]
  /** Spans of Unix ms below the bars. */
  marks: readonly { from: number; to: number; colour: string }[]
  /** The range that the page shows, Unix ms. */
  chosen: readonly [number, number] | null
  /** A click chooses an hour with its neighbours that changed too, a drag any hours. */
  onChoose: (from: number, to: number) => void
}

const HEIGHT = 30
const TONES = ['usual', 'rise', 'loss'] as const

const bar = (height: number, at: number) => `M${at} ${HEIGHT}h.8v${-Math.max(1.5, height * HEIGHT).toFixed(1)}h-.8z`

/** Bars of many hours on one line; an hour or a range of them is chosen by pointer or keys. */
export function DaysStrip({ label, hint, slots, marks, chosen, onChoose }: Props) {
  const [at, setAt] = useState<number | null>(null)
  const [anchor, setAnchor] = useState<number | null>(null)
  const count = slots.length
  const last = count - 1
  const drawn = useMemo(
    () => TONES.map((tone) => slots.map((slot, index) => (slot.tone === tone ? bar(slot.height, index) : '')).join('')),
    [slots],
  )
  const place = (time: number) => ((time - (slots[0]?.from ?? 0)) / 3_600_000 / count) * 100
  const span = (from: number, to: number) => {
    const left = Math.max(0, place(from))
    return { left: `${left}%`, width: `${Math.min(100, place(to)) - left}%` }
  }
  const shown = anchor !== null && at !== null ? rangeOf(slots, anchor, at) : chosen

  function slotAt({ clientX, currentTarget }: PointerEvent<HTMLElement>) {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * count)))
  }

  function press(event: KeyboardEvent) {
    const from = at ?? last
    const isEvent = (slot: Slot | undefined) => slot?.tone === 'rise' || slot?.tone === 'loss'
    const before = slots.findLastIndex((slot, index) => index < from && isEvent(slot))
    const after = slots.findIndex((slot, index) => index > from && isEvent(slot))
    const steps: Record<string, number> = {
      ArrowLeft: from - 1,
      ArrowRight: from + 1,
      PageDown: before < 0 ? from : before,
      PageUp: after < 0 ? from : after,
      Home: 0,
      End: last,
    }
    const next = steps[event.key]
    if (event.key === 'Enter') onChoose(...eventAround(slots, from))
    else if (next === undefined) return
    else setAt(Math.min(last, Math.max(0, next)))
    event.preventDefault()
  }

  return (
    <div className={styles.days}>
      <div
        className={styles.bars}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at ?? last}
        aria-valuetext={slots[at ?? last]?.words}
        onKeyDown={press}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setAnchor(slotAt(event))
        }}
        onPointerMove={(event) => setAt(slotAt(event))}
        onPointerUp={(event) => {
          const end = slotAt(event)
          if (anchor !== null) onChoose(...(anchor === end ? eventAround(slots, end) : rangeOf(slots, anchor, end)))
          setAnchor(null)
        }}
        onPointerCancel={() => setAnchor(null)}
        onPointerLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
      >
        <svg viewBox={`0 0 ${count} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {drawn.map((path, index) => (
            <path key={TONES[index]} d={path} data-tone={TONES[index]} />
          ))}
        </svg>
        {shown && <span className={styles.chosen} style={span(...shown)} />}
        {at !== null && <span className={styles.cursor} style={{ left: `${((at + 0.5) / count) * 100}%` }} />}
        {marks.map(({ from, to, colour }) => (
          <span
            key={`${from} ${to} ${colour}`}
            className={styles.mark}
            style={{ ...span(from, to), background: colour }}
          />
        ))}
      </div>
      <p className={styles.words}>{at === null ? hint : slots[at]?.words}</p>
    </div>
  )
}
