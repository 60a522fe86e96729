import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './page.module.css'
import { strings } from './strings'
import { Term } from './Term'
import type { Selection } from './useSelection'

interface Titled {
  title: string
  /** Glossary term of the title, whose meaning a title that does not sort shows. */
  term?: string
  /** `head` names the row, `number` stands at the right, `wrap` may take several lines, `quiet` matters less. */
  as?: 'head' | 'number' | 'wrap' | 'quiet'
}

/** The value that a list sorts and searches by, and its filter: true for the value itself. `key` stands in the address. */
interface By<T> {
  key: string
  value: (row: T) => Sortable
  filter?: true | ((row: T) => readonly string[])
}

/** A column without `cell` shows the value that it sorts by. */
export type Column<T> = Titled &
  ({ cell: (row: T, index: number) => ReactNode; by?: By<T> } | { cell?: undefined; by: By<T> })

export type Sortable = string | number | null | undefined

/** Order of the rows; `ask` requests another one. */
interface Sorting {
  key: string | undefined
  descending: boolean
  ask: (key: string) => void
}

/** Check boxes before the rows. */
interface Selecting<T> {
  selection: Selection<T>
  /** Name of a row in the label of its check box. */
  name: (row: T) => string
  canSelect: (row: T) => boolean
}

interface Props<T> {
  /** The accessible name of the table. */
  label: string
  rows: readonly T[]
  id: (row: T) => string | number
  columns: Column<T>[]
  /** The row that the page is about. */
  isCurrent?: (row: T) => boolean
  sorting?: Sorting
  selecting?: Selecting<T> | undefined
  /** About eight rows show at once; the others are reached by scrolling. Paper shows all. */
  low?: boolean
}

/** In a narrow window each row of more columns is a card, with its titles. */
const COLUMNS_IN_A_ROW = 3

/** A table of records that scrolls sideways inside itself; focusable, so that the keyboard can scroll it too. */
export function Records<T>({ label, rows, id, columns, isCurrent, sorting, selecting, low = false }: Props<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard (axe: scrollable-region-focusable)
    <section className={low ? styles.low : styles.scroll} aria-label={label} tabIndex={0}>
      <table className={columns.length > COLUMNS_IN_A_ROW ? styles.cards : styles.table}>
        <thead>
          <tr>
            {selecting && (
              <th scope="col" className={styles.select}>
                <SelectPage selecting={selecting} rows={rows} />
              </th>
            )}
            {columns.map(({ title, term, as, by }) => (
              <th
                key={title}
                scope="col"
                className={as === 'number' ? styles.number : undefined}
                aria-sort={ariaSort(by?.key, sorting)}
              >
                {by && sorting ? (
                  <button type="button" className={styles.sort} onClick={() => sorting.ask(by.key)}>
                    {title}
                    <SortMark order={ariaSort(by.key, sorting)} />
                  </button>
                ) : term ? (
                  <Term of={term}>{title}</Term>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={id(row)} aria-current={isCurrent?.(row) || undefined}>
              {selecting && (
                <td className={styles.select}>
                  <SelectRow selecting={selecting} row={row} rows={rows} />
                </td>
              )}
              {columns.map(({ title, cell, by, as }) => {
                const content = cell ? cell(row, index) : by.value(row)
                return as === 'head' ? (
                  <th key={title} scope="row">
                    {content}
                  </th>
                ) : (
                  <td key={title} className={as && styles[as]} data-title={title}>
                    {content}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function SelectPage<T>({ selecting, rows }: { selecting: Selecting<T>; rows: readonly T[] }) {
  const { selection, canSelect } = selecting
  const possible = rows.filter(canSelect)
  const count = possible.filter(selection.has).length
  return (
    <input
      type="checkbox"
      aria-label={strings.selectPage}
      checked={count > 0 && count === possible.length}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && count < possible.length
      }}
      disabled={possible.length === 0}
      onChange={({ currentTarget }) => selection.set(possible, currentTarget.checked)}
    />
  )
}

/** The kit's boxes cost a list too much time. With Shift, by pointer or by key, the rows since the last one follow. */
function SelectRow<T>(props: { selecting: Selecting<T>; row: T; rows: readonly T[] }) {
  const { row, rows } = props
  const { selection, name, canSelect } = props.selecting
  return (
    <input
      type="checkbox"
      aria-label={strings.selectRow(name(row))}
      checked={selection.has(row)}
      disabled={!canSelect(row)}
      onChange={({ currentTarget, nativeEvent }) => {
        const isRange = (nativeEvent as MouseEvent).shiftKey
        selection.toggle(row, currentTarget.checked, isRange ? rows.filter(canSelect) : undefined)
      }}
    />
  )
}

function ariaSort(key: string | undefined, sorting: Sorting | undefined): 'ascending' | 'descending' | undefined {
  if (!key || key !== sorting?.key) return undefined
  return sorting.descending ? 'descending' : 'ascending'
}

function SortMark({ order }: { order: 'ascending' | 'descending' | undefined }) {
  const Mark = order === 'descending' ? IconArrowDown : order ? IconArrowUp : IconArrowsSort
  return <Mark className={order ? undefined : styles.sortable} size={13} aria-hidden />
}

/** An action on one record; `label` names the record, because many rows offer the same action. */
export function RowAction({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" className={styles.action} onClick={onClick} aria-label={label}>
      {children}
    </button>
  )
}
