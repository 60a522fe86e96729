import { expect, test } from 'vitest'
import { type Grid, LOOK } from './grid'
import { bySimilarity, byWorst, profilesOf } from './order'

const HIGHEST = { kind: 'highest' } as const
const FURTHEST = { kind: 'furthest', middle: 100 } as const

/** Return a square grid of codes; 0 is missing. */
function square(size: number, code: (row: number, column: number) => number): Grid {
  const codes = Uint16Array.from({ length: size * size }, (_, at) => code(Math.floor(at / size), at % size))
  return {
    rows: size,
    columns: size,
    codes,
    looks: Uint8Array.from(codes, (c) => (c === 0 ? LOOK.dotted : LOOK.plain)),
  }
}

test('the worst row and column is first, one without values last', () => {
  const sick = (row: number, column: number) => (row === 2 || column === 2 ? 90 : 50)
  const grid = square(5, (row, column) => (row === column || row === 4 || column === 4 ? 0 : sick(row, column)))
  const { rows, columns } = byWorst(grid, HIGHEST, true)
  expect(rows).toBe(columns)
  expect(rows[0]).toBe(2)
  expect(rows.at(-1)).toBe(4)
  expect([...rows].sort()).toEqual([0, 1, 2, 3, 4])
})

test('a value below the middle is as bad as one above, a lost one is worse than both', () => {
  const grid = square(4, (row, column) => (row === column ? 0 : row === 1 ? 80 : row === 3 ? 110 : 100))
  expect(byWorst(grid, FURTHEST, false).rows).toEqual([1, 3, 0, 2])
  const looks = grid.looks.slice()
  looks.fill(LOOK.crossed, 1, 4)
  expect(byWorst({ ...grid, looks }, FURTHEST, false).rows[0]).toBe(0)
})

test('rows that differ in the same way stand together, wherever they were', () => {
  const group = (at: number) => at % 7 === 3 || at % 7 === 5
  const grid = square(70, (row, column) => (row === column ? 0 : group(row) && group(column) ? 160 : 100))
  const places = bySimilarity(grid, FURTHEST, true).rows.map(group)
  expect(places.filter((is, at) => at > 0 && is !== places[at - 1]).length).toBeLessThanOrEqual(2)
})

test('profiles of rows and columns that differ have the length of the other side', () => {
  const grid: Grid = { rows: 2, columns: 3, codes: Uint16Array.from([1, 2, 3, 4, 5, 6]), looks: new Uint8Array(6) }
  expect([...profilesOf(grid, HIGHEST, 'rows', false).values]).toEqual([1, 2, 3, 4, 5, 6])
  expect([...profilesOf(grid, HIGHEST, 'columns', false).values]).toEqual([1, 4, 2, 5, 3, 6])
})

test('the cost of a big grid is bounded', () => {
  const { count, length } = profilesOf(
    square(600, () => 7),
    HIGHEST,
    'rows',
    true,
  )
  expect(count).toBe(600)
  expect(length).toBeLessThanOrEqual(1_024)
})
