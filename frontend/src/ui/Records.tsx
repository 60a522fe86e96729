import { Anchor } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './page.module.css'

export interface Column<T> {
  title: string
  cell: (row: T, index: number) => ReactNode
  /** `head` names the row, `number` stands at the right, `wrap` may take several lines, `quiet` matters less. */
  as?: 'head' | 'number' | 'wrap' | 'quiet'
  /** The value that a list sorts and searches by; `key` stands in the address. */
  by?: { key: string; value: (row: T) => Sortable }
}

export type Sortable = string | number | null | undefined

/** Order of the rows; `ask` requests another one. */
interface Sorting {
  key: string | undefined
  descending: boolean
  ask: (key: string) => void
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
  /** About eight rows show at once; the others are reached by scrolling. Paper shows all. */
  low?: boolean
}

/** A table of records that scrolls sideways inside itself; focusable, so that the keyboard can scroll it too. */
export function Records<T>({ label, rows, id, columns, isCurrent, sorting, low = false }: Props<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard (axe: scrollable-region-focusable)
    <section className={low ? styles.low : styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ title, as, by }) => (
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
              {columns.map(({ title, cell, as }) =>
                as === 'head' ? (
                  <th key={title} scope="row">
                    {cell(row, index)}
                  </th>
                ) : (
                  <td key={title} className={as && styles[as]}>
                    {cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
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
    <Anchor component="button" type="button" size="sm" onClick={onClick} aria-label={label}>
      {children}
    </Anchor>
  )
}
