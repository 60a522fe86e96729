/** Places in the heatmap: the cursor and the zoom, which are in the address, and the cell under the pointer. */

import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Cell } from '~/charts/heatmap/grid'
import { clampView, isWhole, type Shape, type View, wholeView } from '~/charts/heatmap/view'
import { numbers } from '~/lib/searchParams'
import { createStore, type Store, useStore } from '~/lib/store'
import type { MatrixSearch } from './search'

/** A cell of one part of the mesh: the same indices stand for something else in another part. */
export interface Spot extends Cell {
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

function viewOf(text: string | undefined, shape: Shape): View {
  const parts = numbers(text, 3)
  return parts
    ? clampView({ row: parts[0] as number, column: parts[1] as number, count: parts[2] as number }, shape)
    : wholeView(shape)
}

const written = ({ row, column, count }: View) => [row, column, count].map((part) => Number(part.toFixed(2))).join(',')

interface Options {
  search: MatrixSearch
  onSearch: (patch: MatrixSearch) => Promise<void>
  /** The part that the address names, and the part that is shown. */
  start: string
  part: string
  shape: Shape
}

export function usePosition({ search, onSearch, start, part, shape: { rows, columns } }: Options): Position {
  const [cursor, setCursor] = useState<Spot | null>(() => {
    const parts = numbers(search.cell, 2)
    return parts ? { row: parts[0] as number, column: parts[1] as number, part: start } : null
  })
  const [hover] = useState(() => createStore<Spot | null>(null))
  const remember = useDebouncedCallback((cell: Cell) => onSearch({ cell: `${cell.row},${cell.column}` }), 400)
  const onCursor = useCallback(
    (cell: Cell) => {
      setCursor({ ...cell, part })
      remember(cell)
    },
    [remember, part],
  )
  const onHover = useCallback((cell: Cell | null) => hover.set(cell && { ...cell, part }), [hover, part])
  const onView = useCallback(
    (next: View) => void onSearch({ view: isWhole(next, { rows, columns }) ? '' : written(next) }),
    [onSearch, rows, columns],
  )
  const onAxis = useCallback(
    (patch: MatrixSearch) => {
      remember.cancel()
      setCursor(null)
      void onSearch({ cell: '', view: '', zones: '', ...patch })
    },
    [onSearch, remember],
  )
  const keepCursor = useCallback(
    (cell: Cell) => {
      remember.cancel()
      return onSearch({ cell: `${cell.row},${cell.column}` })
    },
    [onSearch, remember],
  )
  const view = useMemo(() => viewOf(search.view, { rows, columns }), [search.view, rows, columns])
  const isIn = cursor && cursor.part === part && cursor.row < rows && cursor.column < columns
  return { cursor: isIn ? cursor : null, hover, view, onCursor, onHover, onView, onAxis, keepCursor }
}

/** Return the cell under the pointer, otherwise that under the cursor. */
export function useActive({ cursor, hover }: Position, part: string): Spot | null {
  const hovered = useStore(hover)
  return hovered?.part === part ? hovered : cursor
}

/** Sweeping over a row must not request the detail of each of its cells. */
export const SETTLED_MS = 120

/** Return the active cell once it has stayed the same for a moment. */
export function useSettled({ cursor, hover }: Position, part: string): Spot | null {
  const [settled, setSettled] = useState(cursor)
  const settle = useDebouncedCallback(setSettled, SETTLED_MS)
  useEffect(() => {
    const follow = () => settle(hover.get() ?? cursor)
    follow()
    return hover.subscribe(follow)
  }, [hover, cursor, settle])
  return settled?.part === part ? settled : null
}
