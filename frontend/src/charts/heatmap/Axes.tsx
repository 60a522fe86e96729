import { useMemo } from 'react'
import styles from './heatmap.module.css'
import { shortened } from './labels'
import type { View } from './view'

export interface Group {
  name: string
  first: number
  count: number
}

export interface Axis {
  title: string
  labels: string[]
  /** Groups of consecutive labels, such as zones; several levels stand side by side, the widest groups first. */
  groups: Group[][]
}

export interface AxisPair {
  rows: Axis
  columns: Axis
}

const BAND = 20
const LEVEL = BAND + 1
const BAND_GAP = 5
/** With more rows than this in view there is no room for a name next to each. */
const MOST_LABELLED = 44
const CHARACTER = 7.2
/** Of the smaller type of groups. */
const GROUP_CHARACTER = 6.2
const LONGEST_LABEL = Math.floor(142 / CHARACTER)

export interface Gutters {
  left: number
  top: number
  /** Of these, for the names of groups. */
  bands: { left: number; top: number }
  /** True when each row and column has a label. */
  labelled: boolean
}

/** Return the labels as far as there is room for them; a name that would be ambiguous stays whole. */
const labelsOf = ({ labels }: Axis) => shortened(labels, LONGEST_LABEL) ?? labels

/** Return the room for labels when `count` rows are in view, in CSS pixels. */
export function gutters({ rows, columns }: AxisPair, count: number): Gutters {
  const labelled = count <= MOST_LABELLED
  const text = (axis: Axis) =>
    labelled ? Math.ceil(Math.min(LONGEST_LABEL, longestOf(axis.labels)) * CHARACTER) + 8 : 0
  const band = ({ groups }: Axis) => (groups.length > 0 ? groups.length * LEVEL + BAND_GAP : 0)
  const bands = { left: band(rows), top: band(columns) }
  return {
    left: Math.max(56, text(rows)) + bands.left,
    top: Math.max(32, text(columns)) + bands.top,
    bands,
    labelled,
  }
}

const longestOf = (names: string[]) => names.reduce((most, name) => Math.max(most, name.length), 0)

interface Props {
  axes: AxisPair
  view: View
  room: Gutters
  /** Width and height of the picture, and of a cell. */
  width: number
  height: number
  cell: number
  active: { row: number; column: number } | null
}

/** Labels of the rows (left) and columns (top) in view, and of their groups; hovering shows a whole name. */
export function Axes({ axes, view, room, width, height, cell, active }: Props) {
  const { left, top, bands, labelled } = room
  const { rows, columns } = axes
  const rowLabels = useMemo(() => labelsOf(rows), [rows])
  const columnLabels = useMemo(() => labelsOf(columns), [columns])
  const flat = cell >= longestOf(columnLabels) * CHARACTER + 8
  const middle = (index: number, start: number) => (index + 0.5 - start) * cell
  const indices = (labels: string[], start: number, length: number) => {
    const first = Math.floor(start)
    const last = Math.min(labels.length, Math.ceil(start + view.count))
    const shown = Array.from({ length: labelled ? last - first : 0 }, (_, i) => first + i)
    return shown.filter((index) => middle(index, start) > -2 && middle(index, start) < length + 2)
  }
  return (
    <div aria-hidden="true">
      <div className={styles.corner} style={{ left: 0, width: left - 8, top: top - bands.top - 32 }}>
        {columns.title} →
        <br />
        {rows.title} ↓
      </div>
      {indices(rowLabels, view.row, height).map((index) => (
        <div
          key={index}
          className={styles.label}
          title={rows.labels[index]}
          data-active={active?.row === index || undefined}
          style={{
            left: bands.left,
            width: left - bands.left - 8,
            top: top + middle(index, view.row) - 8,
            textAlign: 'right',
          }}
        >
          {rowLabels[index]}
        </div>
      ))}
      {indices(columnLabels, view.column, width).map((index) => {
        const centre = middle(index, view.column)
        const place = flat
          ? { left: left + centre - cell / 2, width: cell, top: top - 22, textAlign: 'center' as const }
          : { left: left + centre - 8, top: bands.top, height: top - bands.top - 6 }
        return (
          <div
            key={index}
            className={flat ? styles.label : `${styles.label} ${styles.upright}`}
            title={columns.labels[index]}
            data-active={active?.column === index || undefined}
            style={place}
          >
            {columnLabels[index]}
          </div>
        )
      })}
      {rows.groups.map((level, depth) =>
        placed(level, view.row, cell, height).map(({ group, from, length, text }) => (
          <div
            key={group.first}
            className={styles.group}
            title={group.name}
            style={{ left: depth * LEVEL, width: BAND, top: top + from, height: length }}
          >
            <span className={styles.upright}>{text}</span>
          </div>
        )),
      )}
      {columns.groups.map((level, depth) =>
        placed(level, view.column, cell, width).map(({ group, from, length, text }) => (
          <div
            key={group.first}
            className={styles.group}
            title={group.name}
            style={{ top: depth * LEVEL, height: BAND, left: left + from, width: length }}
          >
            <span>{text}</span>
          </div>
        )),
      )}
    </div>
  )
}

/** Return the groups in view with their places along an axis, and their names as far as there is room. */
function placed(groups: Group[], start: number, cell: number, side: number) {
  const names = groups.map(({ name }) => name)
  return groups.flatMap((group, at) => {
    const from = Math.max(0, (group.first - start) * cell)
    const length = Math.min(side, (group.first + group.count - start) * cell) - from - 2
    if (length <= 0) return []
    const text = shortened(names, Math.floor((length - 4) / GROUP_CHARACTER))?.[at] ?? ''
    return [{ group, from: from + 1, length, text }]
  })
}
