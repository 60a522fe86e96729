/** Values and words of the cells of the shown grid. */

import { useMemo } from 'react'
import type { Shown } from '~/api/measurements'
import { type Cell, type Grid, LOOK, type Look } from '~/charts/heatmap/grid'
import { type Coding, valueOfCode } from '~/lib/codes'
import { facts, measure } from '~/lib/metrics'
import type { Part } from './axes'
import { sentence } from './states'
import { strings } from './strings'

export interface Reading {
  look: (cell: Cell) => Look
  value: (cell: Cell) => number | null
  isFaint: (cell: Cell) => boolean
  /** The text in a cell: a usual value has none, so that what is unusual stands out. */
  figure: (cell: Cell) => string | null
  words: (cell: Cell) => string | null
  sentence: (cell: Cell) => string
}

/** Return the readings of a grid. */
export function readingOf(shown: Shown, coding: Coding, grid: Grid, part: Part): Reading {
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
  const words = (cell: Cell) => {
    if (isUsual(cell)) return strings.asUsual
    const text = figure(cell)
    return text !== null && coding === 'deviation' ? strings.fromUsual(text) : text
  }
  return {
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
        measured,
      ),
  }
}

export const useReading = (shown: Shown, coding: Coding, grid: Grid | undefined, part: Part | undefined) =>
  useMemo(() => grid && part && readingOf(shown, coding, grid, part), [shown, coding, grid, part])
