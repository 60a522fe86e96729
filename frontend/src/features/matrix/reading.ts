/** Values and words of the cells of the shown grid. */

import { useMemo } from 'react'
import type { Shown } from '~/api/measurements'
import type { Roster } from '~/api/types'
import { type Cell, LOOK, type Look } from '~/charts/heatmap/grid'
import { type Coding, valueOfCode } from '~/lib/codes'
import { facts, measure } from '~/lib/metrics'
import { type Entry, entryOf, type Part } from './axes'
import { sentence } from './states'
import { strings } from './strings'
import type { PartGrid } from './useMatrix'

export interface Reading {
  /** The path or zone pair of a cell: of a closed zone, the worst. */
  ends: (cell: Cell) => { source: Entry; target: Entry } | undefined
  /** The number of paths of a cell: more than one when it is of a closed zone. */
  paths: (cell: Cell) => number
  look: (cell: Cell) => Look
  value: (cell: Cell) => number | null
  isFaint: (cell: Cell) => boolean
  /** The text in a cell: a usual value has none, so that what is unusual stands out. */
  figure: (cell: Cell) => string | null
  words: (cell: Cell) => string | null
  sentence: (cell: Cell) => string
}

/** Return the readings of a grid that shows a part of a mesh. */
export function readingOf(shown: Shown, coding: Coding, grid: PartGrid, part: Part, roster: Roster): Reading {
  const { format } = facts(coding)
  const measured = shown.when?.versus ? strings.changeLower : measure(shown.metric, shown.statistic)
  const at = (cell: Cell) => cell.row * grid.columns + cell.column
  const look = (cell: Cell) => (grid.looks[at(cell)] ?? LOOK.lined) as Look
  const value = (cell: Cell) => valueOfCode(coding, grid.codes[at(cell)] ?? 0)
  const isUsual = (cell: Cell) => coding === 'deviation' && value(cell) === 0
  const figure = (cell: Cell) => {
    const shownValue = value(cell)
    return shownValue === null || isUsual(cell) ? null : format(shownValue)
  }
  const paths = (cell: Cell) => {
    const [row, column] = [part.rows[cell.row], part.columns[cell.column]]
    if (!row || !column) return 0
    // A VM has no path to itself.
    const own = row.first === column.first && row.count === column.count ? row.count : 0
    return Math.max(1, row.count * column.count - own)
  }
  const ends = (cell: Cell) => {
    const [row, column] = [part.rows[cell.row], part.columns[cell.column]]
    if (!row || !column) return undefined
    if (!row.isClosed && !column.isClosed) return { source: row, target: column }
    const worst = grid.from?.[at(cell)] ?? 0
    const { vms } = roster
    const [source, target] = [vms[Math.floor(worst / vms.length)], vms[worst % vms.length]]
    return source && target && { source: entryOf(source), target: entryOf(target) }
  }
  const words = (cell: Cell) => {
    if (isUsual(cell)) return strings.asUsual
    const text = figure(cell)
    return text !== null && coding === 'deviation' ? strings.fromUsual(text) : text
  }
  return {
    ends,
    paths,
    look,
    value,
    figure,
    words,
    isFaint: (cell) => grid.faint?.[at(cell)] === 1,
    sentence: (cell) =>
      sentence(
        part.rows[cell.row]?.name ?? '',
        part.columns[cell.column]?.name ?? '',
        look(cell),
        words(cell),
        paths(cell) > 1 ? strings.worstOf(paths(cell), measured) : measured,
      ),
  }
}

export const useReading = (
  shown: Shown,
  coding: Coding,
  grid: PartGrid | undefined,
  part: Part | undefined,
  roster: Roster | undefined,
) =>
  useMemo(
    () => grid && part && roster && readingOf(shown, coding, grid, part, roster),
    [shown, coding, grid, part, roster],
  )
