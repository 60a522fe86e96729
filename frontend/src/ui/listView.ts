/** Search, order and pages of a list of records. */

import { PAGE_ROWS } from '~/lib/paging'
import type { ListSearch, Patch } from '~/lib/searchParams'
import type { Column, Sortable } from './Records'

export interface View<T> {
  /** The rows of this page. */
  rows: T[]
  /** The number of rows on all pages. */
  found: number
  /** The page shown and their number, from 1. */
  page: number
  pages: number
}

/** Return one page of the rows that have every word of the search and the choice of each filter, in the order asked for. */
export function viewOf<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { q, where = {}, sort, page = 1 }: Patch<ListSearch>,
): View<T> {
  const values = columns.flatMap(({ by }) => (by ? [by.value] : []))
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const isChosen = (row: T) =>
    columns.every(({ by }) => {
      const wanted = by?.filter && where[by.key]
      return !wanted || choicesOf(by, row).includes(wanted)
    })
  const hasAll = (row: T) =>
    words.length === 0 ||
    hasWords(
      values.map((of) => of(row)),
      words,
    )
  const found = rows.filter((row) => isChosen(row) && hasAll(row))
  const { key, descending } = orderOf(sort)
  const by = columns.find((column) => column.by?.key === key)?.by
  if (by) found.sort((row, other) => compare(by.value(row), by.value(other), descending))
  const pages = Math.max(1, Math.ceil(found.length / PAGE_ROWS))
  const shown = Math.min(page, pages)
  return { rows: found.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), found: found.length, page: shown, pages }
}

/** A filter of a list: the key of its column, its title, and what there is to choose. */
export interface Filter {
  key: string
  title: string
  choices: string[]
}

const choicesOf = <T>({ value, filter }: NonNullable<Column<T>['by']>, row: T): readonly string[] =>
  typeof filter === 'function' ? filter(row) : [`${value(row)}`]

/** Return the filters that tell rows apart, or are set. */
export function filtersOf<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  where: ListSearch['where'] = {},
): Filter[] {
  return columns.flatMap(({ title, by }) => {
    if (!by?.filter) return []
    const set = where[by.key]
    const choices = [...new Set([...rows.flatMap((row) => choicesOf(by, row)), ...(set ? [set] : [])])].sort(
      names.compare,
    )
    return choices.length > 1 || set ? [{ key: by.key, title, choices }] : []
  })
}

/** Return the column and the direction that `sort` names. */
export function orderOf(sort: string | undefined): { key: string | undefined; descending: boolean } {
  return { key: sort?.replace(/^-/, ''), descending: sort?.startsWith('-') ?? false }
}

/** Return the order after a click on a column: ascending, then descending, then that of the list. */
export function nextSort(sort: string | undefined, key: string): string | undefined {
  if (sort === key) return `-${key}`
  return sort === `-${key}` ? undefined : key
}

function hasWords(values: Sortable[], words: string[]): boolean {
  const text = values
    .filter((value) => typeof value === 'string')
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Rows without a value come last in both directions. */
function compare(one: Sortable, other: Sortable, descending: boolean): number {
  if (one == null || other == null) return Number(one == null) - Number(other == null)
  const order = typeof one === 'number' && typeof other === 'number' ? one - other : names.compare(`${one}`, `${other}`)
  return descending ? -order : order
}
