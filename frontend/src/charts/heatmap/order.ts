/** Orders of the rows and columns of a grid by its values. */

import { type Grid, isColoured, LOOK, type Worst } from './grid'
import { type Profiles, seriate } from './seriate'

/** The indices of rows and of columns. */
export interface Ordering {
  rows: number[]
  columns: number[]
}

const LOST = -2
const MISSING = -1

/** Return the distance of a cell from the best value, in codes; `LOST` or `MISSING` without a value. */
function badness(code: number, look: number, worst: Worst): number {
  if (look === LOOK.crossed) return LOST
  if (code === 0 || !isColoured(look)) return MISSING
  return worst.kind === 'furthest' ? Math.abs(code - worst.middle) : code
}

/** Return what counts for a lost value: a little more than the worst value of the grid. */
function lostOf({ codes, looks }: Grid, worst: Worst): number {
  let most = 0
  for (let at = 0; at < codes.length; at++)
    most = Math.max(most, badness(codes[at] as number, looks[at] as number, worst))
  return most + 1
}

const descending = (scores: Float64Array): number[] =>
  Array.from(scores, (_, at) => at).sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)

/**
 * Return rows and columns, those with the worst mean first and those without a value last. When both stand for the same,
 * `isSquare`, they have one order, by row and column together.
 */
export function byWorst(grid: Grid, worst: Worst, isSquare: boolean): Ordering {
  const { rows, columns, codes, looks } = grid
  const [down, across] = [new Float64Array(rows), new Float64Array(columns)]
  const lost = lostOf(grid, worst)
  const [inRow, inColumn] = [new Uint32Array(rows), new Uint32Array(columns)]
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at++) {
      const value = badness(codes[at] as number, looks[at] as number, worst)
      if (value === MISSING) continue
      const bad = value === LOST ? lost : value
      down[row] = (down[row] as number) + bad
      across[column] = (across[column] as number) + bad
      inRow[row] = (inRow[row] as number) + 1
      inColumn[column] = (inColumn[column] as number) + 1
    }
  }
  const mean = (sums: Float64Array, counts: Uint32Array) =>
    sums.map((sum, at) => (counts[at] === 0 ? MISSING : sum / (counts[at] as number)))
  const [rowMeans, columnMeans] = [mean(down, inRow), mean(across, inColumn)]
  if (!isSquare) return { rows: descending(rowMeans), columns: descending(columnMeans) }
  const order = descending(rowMeans.map((score, at) => score + (columnMeans[at] as number)))
  return { rows: order, columns: order }
}

/** A profile is no longer, which bounds the time for big grids: every second peer is enough to tell rows apart. */
const PROFILE_MOST = 1_024

/**
 * Return the codes of each row, or of each column, as its profile; of both when they stand for the same, `isSquare`. A
 * missing value is the mean of the others to or from the same peer.
 */
export function profilesOf(grid: Grid, worst: Worst, side: 'rows' | 'columns', isSquare: boolean): Profiles {
  const { codes, looks } = grid
  const middle = worst.kind === 'furthest' ? worst.middle : 0
  const lost = lostOf(grid, worst)
  const isRows = side === 'rows'
  const count = isRows ? grid.rows : grid.columns
  const peers = isRows ? grid.columns : grid.rows
  const directions = isSquare ? [true, false] : [isRows]
  const step = Math.max(1, Math.ceil((peers * directions.length) / PROFILE_MOST))
  const length = Math.ceil(peers / step) * directions.length
  const values = new Float32Array(count * length)
  const [sums, present] = [new Float64Array(length), new Uint32Array(length)]
  for (let own = 0, at = 0; own < count; own++) {
    let feature = 0
    for (const isRow of directions) {
      for (let peer = 0; peer < peers; peer += step, feature++, at++) {
        const cell = isRow ? own * grid.columns + peer : peer * grid.columns + own
        const bad = badness(codes[cell] as number, looks[cell] as number, worst)
        const value = bad === MISSING ? Number.NaN : bad === LOST ? lost : (codes[cell] as number) - middle
        values[at] = value
        if (bad === MISSING) continue
        sums[feature] = (sums[feature] as number) + value
        present[feature] = (present[feature] as number) + 1
      }
    }
  }
  for (let at = 0; at < values.length; at++) {
    if (!Number.isNaN(values[at])) continue
    const others = present[at % length] as number
    values[at] = others === 0 ? 0 : (sums[at % length] as number) / others
  }
  return { values, count, length }
}

/** Return rows and columns such that similar ones stand together; in one order when both stand for the same. */
export function bySimilarity(grid: Grid, worst: Worst, isSquare: boolean): Ordering {
  const rows = seriate(profilesOf(grid, worst, 'rows', isSquare))
  return { rows, columns: isSquare ? rows : seriate(profilesOf(grid, worst, 'columns', false)) }
}
