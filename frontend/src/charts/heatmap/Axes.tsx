import styles from './heatmap.module.css'
import type { View } from './view'

export interface Group {
  name: string
  first: number
  count: number
}

/** Rows and columns share one axis. */
export interface Axis {
  labels: string[]
  groups: Group[]
  rowTitle: string
  columnTitle: string
}

const BAND = 20
/** With more rows than this in view there is no room for a name next to each. */
const MOST_LABELLED = 44
const CHARACTER = 7.2

export interface Gutters {
  left: number
  top: number
  /** Of these, for the names of groups. */
  band: number
  /** True when each row and column has a label. */
  labelled: boolean
}

/** Return the room for labels when `count` rows are in view, in CSS pixels. */
export function gutters(axis: Axis, count: number): Gutters {
  const longest = axis.labels.reduce((most, label) => Math.max(most, label.length), 0)
  const labelled = count <= MOST_LABELLED
  const text = !labelled ? 0 : Math.min(150, Math.ceil(longest * CHARACTER) + 8)
  const band = axis.groups.length > 0 ? BAND + 6 : 0
  return { left: Math.max(56, text) + band, top: Math.max(32, text) + band, band, labelled }
}

interface Props {
  axis: Axis
  view: View
  room: Gutters
  side: number
  active: { row: number; column: number } | null
}

/** Labels of the rows (left) and columns (top) in view, and of their groups; names are hidden without room. */
export function Axes({ axis, view, room, side, active }: Props) {
  const { left, top, band, labelled } = room
  const cell = side / view.count
  const indices = (start: number) => {
    const first = Math.floor(start)
    const last = Math.min(axis.labels.length, Math.ceil(start + view.count))
    return !labelled ? [] : Array.from({ length: last - first }, (_, i) => first + i)
  }
  const longest = axis.labels.reduce((most, label) => Math.max(most, label.length), 0)
  const flat = cell >= longest * CHARACTER + 8
  const middle = (index: number, start: number) => (index + 0.5 - start) * cell
  const visible = (centre: number) => centre > -2 && centre < side + 2
  return (
    <div aria-hidden="true">
      <div className={styles.corner} style={{ left: 0, width: left - 8, top: top - band - 32 }}>
        {axis.columnTitle} →
        <br />
        {axis.rowTitle} ↓
      </div>
      {indices(view.row).map((index) => {
        const centre = middle(index, view.row)
        return visible(centre) ? (
          <div
            key={index}
            className={styles.label}
            data-active={active?.row === index || undefined}
            style={{ left: band, width: left - band - 8, top: top + centre - 8, textAlign: 'right' }}
          >
            {axis.labels[index]}
          </div>
        ) : null
      })}
      {indices(view.column).map((index) => {
        const centre = middle(index, view.column)
        if (!visible(centre)) return null
        const place = flat
          ? { left: left + centre - cell / 2, width: cell, top: top - 22, textAlign: 'center' as const }
          : { left: left + centre - 8, top: band, height: top - band - 6 }
        return (
          <div
            key={index}
            className={flat ? styles.label : `${styles.label} ${styles.upright}`}
            data-active={active?.column === index || undefined}
            style={place}
          >
            {axis.labels[index]}
          </div>
        )
      })}
      {axis.groups.map((group) => {
        const along = (start: number) => {
          const from = Math.max(0, (group.first - start) * cell)
          const to = Math.min(side, (group.first + group.count - start) * cell)
          return { from: from + 1, length: to - from - 2 }
        }
        const down = along(view.row)
        const across = along(view.column)
        return (
          <div key={group.first}>
            {down.length > 0 && (
              <div className={styles.group} style={{ left: 0, width: BAND, top: top + down.from, height: down.length }}>
                {down.length > 26 && (
                  <span className={styles.upright} style={{ maxHeight: down.length - 4 }}>
                    <bdi>{group.name}</bdi>
                  </span>
                )}
              </div>
            )}
            {across.length > 0 && (
              <div
                className={styles.group}
                style={{ top: 0, height: BAND, left: left + across.from, width: across.length }}
              >
                {across.length > 26 && (
                  <span style={{ maxWidth: across.length - 4 }}>
                    <bdi>{group.name}</bdi>
                  </span>
                )}
              </div>
            )}
          </div>
        )
      })}
    </div>
  )
}
