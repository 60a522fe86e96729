/** A grid of codes, and the looks of missing values. */

/** The look of a cell. `plain` and `veiled` show a colour; the others are hatches without colour. */
export const LOOK = { plain: 0, dotted: 1, lined: 2, veiled: 3, crossed: 4 } as const
export type Look = (typeof LOOK)[keyof typeof LOOK]

export interface Grid {
  rows: number
  columns: number
  /** Row-major; 0 is no value. */
  codes: Uint16Array
  looks: Uint8Array
  /** 1 where the value is too uncertain to stand out. */
  faint?: Uint8Array | undefined
}

/** The criterion of the worst value: the highest code, or the code furthest from the middle. */
export type Worst = { kind: 'highest' } | { kind: 'furthest'; middle: number }

export interface Cell {
  row: number
  column: number
}

/** The rank of a cell when several share a pixel: crossed, then values by size, then lined, then dotted. */
function rank(code: number, look: number, middle: number): number {
  if (look === LOOK.crossed) return 1 << 20
  if (code > 0 && (look === LOOK.plain || look === LOOK.veiled)) return 16 + Math.abs(code - middle)
  return look === LOOK.lined ? 2 : look === LOOK.dotted ? 1 : 3
}

/**
 * Merges `factor`×`factor` cells into one that shows the worst of them. Scaling a large grid down by
 * nearest neighbour would drop hot cells: three in four at half size.
 */
export function pool(grid: Grid, factor: number, worst: Worst): Grid {
  const rows = Math.ceil(grid.rows / factor)
  const columns = Math.ceil(grid.columns / factor)
  const middle = worst.kind === 'furthest' ? worst.middle : 0
  const winner = new Uint32Array(rows * columns)
  const best = new Int32Array(rows * columns).fill(-1)
  for (let row = 0, i = 0; row < grid.rows; row++) {
    const start = Math.floor(row / factor) * columns
    for (let column = 0; column < grid.columns; column++, i++) {
      const pooled = start + Math.floor(column / factor)
      const rate = rank(grid.codes[i] as number, grid.looks[i] as number, middle)
      if (rate > (best[pooled] as number)) {
        best[pooled] = rate
        winner[pooled] = i
      }
    }
  }
  const { codes, looks, faint } = grid
  return {
    rows,
    columns,
    codes: Uint16Array.from(winner, (i) => codes[i] as number),
    looks: Uint8Array.from(winner, (i) => looks[i] as number),
    faint: faint && Uint8Array.from(winner, (i) => faint[i] as number),
  }
}

/** Count the cells of a grid with each look, and the faint ones. */
export function countLooks({ looks, faint }: Grid): Record<Look | 'faint', number> {
  const counts = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0, faint: 0 }
  for (let i = 0; i < looks.length; i++) counts[looks[i] as Look] += 1
  if (faint) for (let i = 0; i < faint.length; i++) counts.faint += faint[i] as number
  return counts
}
