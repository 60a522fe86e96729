import { useRef, useState } from 'react'

type Id = string | number

/** Rows of a list that a person has selected. */
export interface Selection<T> {
  /** The selected rows, in the order of the list. */
  rows: T[]
  has: (row: T) => boolean
  set: (rows: readonly T[], on: boolean) => void
  /** Select or clear a row; with `among`, also those between it and the row toggled before. */
  toggle: (row: T, on: boolean, among?: readonly T[]) => void
}

const NONE: ReadonlySet<Id> = new Set()

/** Keep a selection of `rows`. It follows them through any order, and drops those that leave the list. */
export function useSelection<T>(rows: readonly T[], id: (row: T) => Id): Selection<T> {
  const [ids, setIds] = useState(NONE)
  const before = useRef<Id | null>(null)
  const selected = ids.size === 0 ? [] : rows.filter((row) => ids.has(id(row)))
  // A row that comes back must not be selected behind the person's back.
  if (selected.length < ids.size) setIds(new Set(selected.map(id)))

  function set(changed: readonly T[], on: boolean) {
    setIds((old) => {
      const next = new Set(old)
      for (const row of changed) {
        if (on) next.add(id(row))
        else next.delete(id(row))
      }
      return next
    })
  }

  return {
    rows: selected,
    has: (row) => ids.has(id(row)),
    set,
    toggle: (row, on, among = []) => {
      const ends = [among.findIndex((other) => id(other) === before.current), among.indexOf(row)]
      set(ends.includes(-1) ? [row] : among.slice(Math.min(...ends), Math.max(...ends) + 1), on)
      before.current = id(row)
    },
  }
}
