import { type KeyboardEvent, useState } from 'react'
import { type Band, type Group, isHeaded } from './axis'
import styles from './heatmap.module.css'

interface Props {
  label: string
  groups: Group[][]
  bands: Band[]
  /** The first row or column in view, the size of a cell and the length of the picture along the axis, in pixels. */
  start: number
  cell: number
  length: number
  /** From the edge to the picture. */
  offset: number
  /** Headings of rows, at the left, instead of columns, at the top. */
  upright?: boolean
  onGroup?: ((id: string) => void) | undefined
}

const KEYS: Record<string, number> = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }

/** Headings of groups of rows or columns. A heading stays in view while a part of its group does. */
export function Headings({ label, groups, bands, start, cell, length, offset, upright = false, onGroup }: Props) {
  const [reached, setReached] = useState('')
  const placed = groups.flatMap((level, depth) =>
    level.flatMap((group, at) => {
      const from = Math.max(0, (group.first - start) * cell)
      const extent = Math.min(length, (group.first + group.count - start) * cell) - from - 2
      const key = `${depth} ${group.first}`
      return extent <= 0 ? [] : [{ group, key, from: from + 1, extent, at, band: bands[depth] as Band }]
    }),
  )
  if (placed.length === 0) return null
  const stop = placed.some(({ key }) => key === reached) ? reached : placed[0]?.key

  function move(event: KeyboardEvent, at: number) {
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? placed.length - 1 : at + (KEYS[event.key] ?? 0)
    if (next === at || next < 0 || next >= placed.length) return
    event.preventDefault()
    const parent = event.currentTarget.parentElement
    parent?.querySelectorAll<HTMLElement>('button')[next]?.focus()
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for the fields of a form
    <div role="group" aria-label={label}>
      {placed.map(({ group, key, from, extent, at, band }, index) => {
        const isUpright = upright !== band.across
        return (
          <button
            key={key}
            type="button"
            className={styles.group}
            title={group.title ?? group.name}
            aria-label={group.title ?? group.name}
            aria-expanded={group.isClosed === undefined ? undefined : !group.isClosed}
            tabIndex={key === stop ? 0 : -1}
            style={
              upright
                ? { left: band.offset, width: band.thickness, top: offset + from, height: extent }
                : { top: band.offset, height: band.thickness, left: offset + from, width: extent }
            }
            onFocus={() => setReached(key)}
            onKeyDown={(event) => move(event, index)}
            onClick={onGroup && (() => onGroup(group.id))}
          >
            {isHeaded(band, extent) && (
              // The name of the button is whole; a shortened one is only for the eye.
              <span
                className={isUpright ? `${styles.short} ${styles.upright}` : styles.short}
                data-text={band.texts[at]}
              />
            )}
          </button>
        )
      })}
    </div>
  )
}
