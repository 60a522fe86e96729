import { memo, type ReactNode } from 'react'
import type { AxisPair, Gutters } from './axis'
import { Headings } from './Headings'
import styles from './heatmap.module.css'
import type { View } from './view'

/** A row or a column. */
export type Side = 'row' | 'column'

interface Props {
  axes: AxisPair
  view: View
  room: Gutters
  /** Width and height of the picture, and of a cell. */
  width: number
  height: number
  cell: number
  active: { row: number; column: number } | null
  /** Rows and columns that stand out, such as those of a search. */
  highlighted?: Record<Side, ReadonlySet<number>> | undefined
  onGroup?: ((id: string) => void) | undefined
  onLabel?: ((side: Side, index: number) => void) | undefined
}

const CHARACTER = 7.2

/** Labels of the rows (left) and columns (top) in view, and their headings; hovering shows a whole name. */
export function Axes({ axes, view, room, width, height, cell, active, highlighted, onGroup, onLabel }: Props) {
  const { left, top } = room
  const { rows, columns } = axes
  const flat = cell >= Math.max(...(top.labels ?? ['']).map(({ length }) => length)) * CHARACTER + 8
  const middle = (index: number, start: number) => (index + 0.5 - start) * cell
  const indices = (labels: string[] | null, start: number, length: number) => {
    if (!labels) return []
    const first = Math.floor(start)
    const last = Math.min(labels.length, Math.ceil(start + view.count))
    const shown = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i)
    return shown.filter((index) => middle(index, start) > -2 && middle(index, start) < length + 2)
  }
  return (
    <>
      <Headings
        label={rows.title}
        groups={rows.groups}
        bands={left.bands}
        start={view.row}
        cell={cell}
        length={height}
        offset={top.size}
        upright
        onGroup={onGroup}
      />
      <Headings
        label={columns.title}
        groups={columns.groups}
        bands={top.bands}
        start={view.column}
        cell={cell}
        length={width}
        offset={left.size}
        onGroup={onGroup}
      />
      <div aria-hidden="true">
        <div className={styles.corner} style={{ left: 0, width: left.size - 8, top: top.size - 32 }}>
          {columns.title} →
          <br />
          {rows.title} ↓
        </div>
        {indices(left.labels, view.row, height).map((index) => (
          <Label
            key={index}
            text={left.labels?.[index] ?? ''}
            title={rows.titles?.[index] ?? rows.labels[index] ?? ''}
            isActive={active?.row === index}
            isHighlighted={highlighted?.row.has(index) ?? false}
            left={left.depth}
            top={top.size + middle(index, view.row) - 8}
            width={left.size - left.depth - 8}
            align="right"
            side="row"
            index={index}
            onLabel={onLabel}
          />
        ))}
        {indices(top.labels, view.column, width).map((index) => {
          const centre = middle(index, view.column)
          return (
            <Label
              key={index}
              text={top.labels?.[index] ?? ''}
              title={columns.titles?.[index] ?? columns.labels[index] ?? ''}
              isActive={active?.column === index}
              isHighlighted={highlighted?.column.has(index) ?? false}
              left={left.size + centre - (flat ? cell / 2 : 8)}
              top={flat ? top.size - 22 : top.depth}
              width={flat ? cell : undefined}
              height={flat ? undefined : top.size - top.depth - 6}
              align={flat ? 'center' : undefined}
              side="column"
              index={index}
              onLabel={onLabel}
            />
          )
        })}
      </div>
    </>
  )
}

interface LabelProps {
  text: string
  title: string
  isActive: boolean
  isHighlighted: boolean
  left: number
  top: number
  width?: number | undefined
  /** Of an upright label. */
  height?: number | undefined
  align?: 'right' | 'center' | undefined
  side: Side
  index: number
  onLabel?: ((side: Side, index: number) => void) | undefined
}

/** The name of a row or column; a button for the pointer: the keyboard selects within the grid. */
const Label = memo(function Label(props: LabelProps): ReactNode {
  const { text, title, isActive, isHighlighted, left, top, width, height, align, side, index, onLabel } = props
  return (
    <button
      type="button"
      tabIndex={-1}
      className={height === undefined ? styles.label : `${styles.label} ${styles.upright}`}
      title={title}
      data-active={isActive || undefined}
      data-highlighted={isHighlighted || undefined}
      style={{ left, top, width, height, textAlign: align }}
      onClick={onLabel && (() => onLabel(side, index))}
    >
      {text}
    </button>
  )
})
