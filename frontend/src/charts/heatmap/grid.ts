/** A grid of codes, and the looks of missing values. */

/** The look of a cell. `plain`, `veiled`, `flecked` and `barred` show a colour; the others are hatches without colour. */
export const LOOK = {
  plain: 0,
  dotted: 1,
  lined: 2,
  veiled: 3,
  crossed: 4,
  ruled: 5,
  flecked: 6,
  barred: 7,
  ringed: 8,
} as const
export type Look = (typeof LOOK)[keyof typeof LOOK]

/** Return whether cells of a look show the colour of their value. */
export const isColoured = (look: number | undefined) =>
  look === LOOK.plain || look === LOOK.veiled || look === LOOK.flecked || look === LOOK.barred

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

/** When several cells share a pixel, the one with the highest rank is shown. That of a value is 16 and its size. */
const RANKS: Record<Look, number> = {
  [LOOK.crossed]: 1 << 20,
  [LOOK.barred]: 4,
  [LOOK.plain]: 3,
  [LOOK.veiled]: 3,
  [LOOK.flecked]: 3,
  [LOOK.ringed]: 3,
  [LOOK.lined]: 2,
  [LOOK.ruled]: 2,
  [LOOK.dotted]: 1,
}
const RANK = Int32Array.from(Object.values(RANKS))
const HAS_SIZE = RANK.map((rank, look) => (rank === 3 && isColoured(look) ? 1 : 0))

/** New places of the rows or columns of a grid: `at` is the index of each, or -1. Several may share one of the `count`. */
export interface Places {
  at: Int32Array
  count: number
}

/** A grid whose cells are chosen from those of another: `from` is the index of each there. */
export interface Chosen extends Grid {
  from: Uint32Array
}

/** Return the grid with rows and columns at other places. Of several cells at one place the worst is chosen. */
export function rearrange(grid: Grid, rows: Places, columns: Places, worst: Worst): Chosen {
  const from = winners(grid, rows, columns, worst)
  const { codes, looks, faint } = grid
  return {
    rows: rows.count,
    columns: columns.count,
    codes: pick(codes, from, new Uint16Array(from.length)),
    looks: pick(looks, from, new Uint8Array(from.length)),
    faint: faint && pick(faint, from, new Uint8Array(from.length)),
    from,
  }
}

function winners(grid: Grid, rows: Places, columns: Places, worst: Worst): Uint32Array {
  const middle = worst.kind === 'furthest' ? worst.middle : 0
  const winner = new Uint32Array(rows.count * columns.count)
  const best = new Int32Array(winner.length).fill(-1)
  const { codes, looks } = grid
  const { at } = columns
  // A million cells: no call for each.
  for (let row = 0, i = 0; row < grid.rows; row++) {
    const start = (rows.at[row] as number) * columns.count
    for (let column = 0; column < grid.columns; column++, i++) {
      const place = at[column] as number
      if (start < 0 || place < 0) continue
      const code = codes[i] as number
      const look = looks[i] as number
      const rate = code > 0 && HAS_SIZE[look] === 1 ? 16 + Math.abs(code - middle) : (RANK[look] as number)
      const cell = start + place
      if (rate > (best[cell] as number)) {
        best[cell] = rate
        winner[cell] = i
      }
    }
  }
  return winner
}

/**
 * Merges `factor`×`factor` cells into one that shows the worst of them. Scaling a large grid down by
 * nearest neighbour would drop hot cells: three in four at half size.
 */
export function pool(grid: Grid, factor: number, worst: Worst): Chosen {
  const places = (length: number): Places => ({
    at: Int32Array.from({ length }, (_, index) => Math.floor(index / factor)),
    count: Math.ceil(length / factor),
  })
  return rearrange(grid, places(grid.rows), places(grid.columns), worst)
}

/** Copy chosen values. A loop: `TypedArray.from` with a function takes 60 ms for 250,000 values. */
export function pick<T extends Uint8Array | Uint16Array>(values: T, at: Uint32Array, out: T): T {
  for (let i = 0; i < at.length; i++) out[i] = values[at[i] as number] as number
  return out
}

/** Count the cells of a grid with each look, and the faint ones. */
export function countLooks({ looks, faint }: Grid): Record<Look | 'faint', number> {
  const counts = new Uint32Array(256)
  for (let i = 0; i < looks.length; i++) counts[looks[i] as number] = (counts[looks[i] as number] as number) + 1
  let faintOnes = 0
  if (faint) for (let i = 0; i < faint.length; i++) faintOnes += faint[i] as number
  const all = Object.values(LOOK).map((look) => [look, counts[look] as number])
  return { ...(Object.fromEntries(all) as Record<Look, number>), faint: faintOnes }
}
