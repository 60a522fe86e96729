/** Places in the heatmap: the cursor and the zoom, which are in the address, and the cell under the pointer. */

import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Cell } from '~/charts/heatmap/grid'
import { clampView, isWhole, type Shape, type View, wholeView } from '~/charts/heatmap/view'
import { numbers } from '~/lib/searchParams'
import { createStore, type Store, useStore } from '~/lib/store'
import type { Line, Part } from './axes'
import type { ChangeSearch, MatrixSearch } from './search'

/** A cell of one part of the mesh: the same indices stand for something else in another part. */
export interface Spot extends Cell {
  part: Part
}

/** A cell by its place in the mesh, which outlives another order of the rows: `part` is the key of its part. */
interface Kept extends Cell {
  part: string
}

export interface Position {
  cursor: Spot | null
  /** The cell under the pointer; a store, because the page must not render with each move of the pointer. */
  hover: Store<Spot | null>
  view: View
  onCursor: (cell: Cell) => void
  onHover: (cell: Cell | null) => void
  onView: (view: View) => void
  /** Change the axes: they have other cells, so neither the cursor nor the zoom carries over. */
  onAxis: (patch: MatrixSearch) => void
  /** Write the cursor to the address at once, so that Back returns to it. */
  keepCursor: (cell: Cell) => Promise<void>
}

function viewOf(text: string | undefined, shape: Shape, closest: number): View {
  const parts = numbers(text, 3)
  return parts
    ? clampView({ row: parts[0] as number, column: parts[1] as number, count: parts[2] as number }, shape, closest)
    : wholeView(shape)
}

/** Write a view as the address has it. */
export const written = ({ row, column, count }: View) =>
  [row, column, count].map((part) => Number(part.toFixed(2))).join(',')

interface Options {
  search: MatrixSearch
  onSearch: ChangeSearch
  /** The fewest rows and columns in view. */
  closest: number
  /** The key of the part that the address names. */
  start: string
  /** The part that is shown. */
  part: Part | undefined
}

/** Return where a cell of the mesh is among the rows and columns of a part; null outside it. */
function shownAt(part: Part, { row, column }: Cell): Spot | null {
  const find = (lines: Line[], index: number) =>
    lines.findIndex(({ first, count }) => index >= first && index < first + count)
  const at = {
    row: find(part.rows, row + part.start.row),
    column: find(part.columns, column + part.start.column),
    part,
  }
  return at.row < 0 || at.column < 0 ? null : at
}

/** Return the place in the mesh of a cell of a part; of the first path where zones are closed. */
function keptAt({ rows, columns, start, key }: Part, { row, column }: Cell): Kept {
  const first = (lines: Line[], index: number) => lines[index]?.first ?? 0
  return { row: first(rows, row) - start.row, column: first(columns, column) - start.column, part: key }
}

export function usePosition({ search, onSearch, closest, start, part }: Options): Position {
  const rows = part?.rows.length ?? 0
  const columns = part?.columns.length ?? 0
  const [kept, setKept] = useState<Kept | null>(() => {
    const parts = numbers(search.cell, 2)
    return parts ? { row: parts[0] as number, column: parts[1] as number, part: start } : null
  })
  const cursor = useMemo(() => (kept && part && kept.part === part.key ? shownAt(part, kept) : null), [kept, part])
  const [hover] = useState(() => createStore<Spot | null>(null))
  const remember = useDebouncedCallback((cell: Cell) => onSearch({ cell: `${cell.row},${cell.column}` }), 400)
  const onCursor = useCallback(
    (cell: Cell) => {
      if (!part) return
      const next = keptAt(part, cell)
      setKept(next)
      remember(next)
    },
    [remember, part],
  )
  const onHover = useCallback((cell: Cell | null) => hover.set(cell && part ? { ...cell, part } : null), [hover, part])
  const onView = useCallback(
    (next: View) => void onSearch({ view: isWhole(next, { rows, columns }) ? '' : written(next) }),
    [onSearch, rows, columns],
  )
  const onAxis = useCallback(
    (patch: MatrixSearch) => {
      remember.cancel()
      setKept(null)
      void onSearch({ cell: '', view: '', zones: '', select: '', ...patch }, true)
    },
    [onSearch, remember],
  )
  const keepCursor = useCallback(
    (cell: Cell) => {
      remember.cancel()
      const { row, column } = part ? keptAt(part, cell) : cell
      return onSearch({ cell: `${row},${column}` })
    },
    [onSearch, remember, part],
  )
  const view = useMemo(() => viewOf(search.view, { rows, columns }, closest), [search.view, rows, columns, closest])
  return { cursor, hover, view, onCursor, onHover, onView, onAxis, keepCursor }
}

/** Return the cell under the pointer, otherwise that under the cursor. */
export function useActive({ cursor, hover }: Position, part: Part): Spot | null {
  const hovered = useStore(hover)
  return hovered?.part === part ? hovered : cursor
}

/** Sweeping over a row must not request the detail of each of its cells. */
export const SETTLED_MS = 120

/** Return the active cell once it has stayed the same for a moment. */
export function useSettled({ cursor, hover }: Position, part: Part): Spot | null {
  const [settled, setSettled] = useState(cursor)
  const settle = useDebouncedCallback(setSettled, SETTLED_MS)
  useEffect(() => {
    const follow = () => settle(hover.get() ?? cursor)
    follow()
    return hover.subscribe(follow)
  }, [hover, cursor, settle])
  return settled?.part === part ? settled : null
}
