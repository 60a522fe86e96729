import { describe, expect, test } from 'vitest'
import { headOf, lanesOf, outlines, type Place, route } from './arrows'
import { contrast, lineRamp, PAGE } from './palette'

const WHOLE = { row: 0, column: 0, count: 10 }
const MIDDLE = { row: 0, column: 0 }
const at = (index: number): Place => ({ row: index, column: index })
const row = (index: number): Place => ({ row: index, column: null })
const column = (index: number): Place => ({ row: null, column: index })
const NOWHERE: Place = { row: null, column: null }

/** Return the points of a line, in order. */
const points = (line: string) =>
  [...line.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }))

describe('an arrow from one VM to another', () => {
  const way = route({ from: at(1), to: at(7) }, MIDDLE, WHOLE, 40)

  test('leaves along the row of the one and arrives along the column of the other', () => {
    expect(way?.start.y).toBe(60)
    expect(way?.tip.x).toBe(300)
    // The corner is the path between the two.
    expect(points(way?.line ?? '')).toContainEqual({ x: 300, y: 60 })
    expect(way?.into).toEqual({ x: 0, y: 1 })
  })

  test('is on the other side of the diagonal the other way round', () => {
    const back = route({ from: at(7), to: at(1) }, MIDDLE, WHOLE, 40)
    expect(points(back?.line ?? '')).toContainEqual({ x: 60, y: 300 })
    expect(back?.into).toEqual({ x: 0, y: -1 })
  })

  test('has a head at its tip, along its line', () => {
    const [tip, left, right] = points(headOf(way as NonNullable<typeof way>))
    expect(tip).toEqual(way?.tip)
    expect(left?.y).toBe(right?.y)
    expect(left?.y).toBeLessThan(tip?.y as number)
  })

  test.each([0.6, 3, 9, 40])('is seen between neighbours of %s pixels a cell', (cell) => {
    const { line = '' } = route({ from: at(500), to: at(501) }, MIDDLE, { ...WHOLE, row: 490, column: 490 }, cell) ?? {}
    const [xs, ys] = [points(line).map(({ x }) => x), points(line).map(({ y }) => y)]
    expect(Math.max(...xs) - Math.min(...xs)).toBeGreaterThan(20)
    expect(Math.max(...ys) - Math.min(...ys)).toBeGreaterThan(20)
  })

  test('within one zone begins and ends at its cell, outside the figure in it', () => {
    const loop = route({ from: at(2), to: at(2) }, MIDDLE, WHOLE, 100)
    expect(loop?.start.x).toBeGreaterThan(280)
    expect(loop?.tip.y).toBeLessThan(220)
  })

  test.each([0, 1, 499, 998, 999])('bulges into the picture from the VMs at its edges: %s', (index) => {
    for (const [cell, count] of [
      [0.8, 1000],
      [100, 4],
    ] as const) {
      const first = Math.min(Math.max(index - 1, 0), 1000 - count)
      const view = { row: first, column: first, count }
      for (const to of [index, Math.min(index + 1, 999), Math.max(index - 1, 0)]) {
        const badge = route({ from: at(index), to: at(to) }, MIDDLE, view, cell)?.badge
        expect(Math.min(badge?.x ?? 0, badge?.y ?? 0)).toBeGreaterThanOrEqual(0)
        expect(Math.max(badge?.x ?? 0, badge?.y ?? 0)).toBeLessThanOrEqual(count * cell)
      }
    }
  })

  test('moves with the view, and does not cross the figures of large cells', () => {
    const near = route({ from: at(1), to: at(3) }, MIDDLE, { row: 1, column: 1, count: 3 }, 100)
    expect(near?.start.y).toBe(50 + 32)
    expect(near?.tip.x).toBe(250 - 32)
  })
})

describe('where rows and columns are not the same', () => {
  test.each([
    [row(2), column(5), { x: 0, y: 100 }, { x: 220, y: 0 }],
    [column(5), row(2), { x: 220, y: 0 }, { x: 0, y: 100 }],
    [row(2), row(5), { x: 0, y: 100 }, { x: 0, y: 220 }],
    [column(2), column(5), { x: 100, y: 0 }, { x: 220, y: 0 }],
  ])('from %o to %o it leads along the edges', (from, to, start, tip) => {
    const way = route({ from, to }, MIDDLE, WHOLE, 40)
    expect([way?.start, way?.tip]).toEqual([start, tip])
  })

  test.each([null, NOWHERE])('what comes from %o arrives, what goes elsewhere leaves', (elsewhere) => {
    expect(route({ from: elsewhere, to: at(3) }, MIDDLE, WHOLE, 40)?.tip).toEqual({ x: 140, y: 140 })
    expect(route({ from: at(3), to: NOWHERE }, MIDDLE, WHOLE, 40)?.start).toEqual({ x: 140, y: 140 })
    expect(route({ from: elsewhere, to: NOWHERE }, MIDDLE, WHOLE, 40)).toBeNull()
  })
})

test('arrows that share a row, or a column, run side by side', () => {
  const lanes = lanesOf([
    { from: at(1), to: at(4) },
    { from: at(1), to: at(5) },
    { from: at(1), to: at(6) },
    { from: at(2), to: at(4) },
  ])
  expect(lanes.map((lane) => lane.row)).toEqual([0, 1, -1, 0])
  expect(lanes.map((lane) => lane.column)).toEqual([0, 0, 0, 1])
})

test('outlines of cells too small to be seen are larger than the cells', () => {
  expect(outlines([{ row: 1, column: 2 }], WHOLE, 40)).toBe('M80 40h40v40h-40Z')
  expect(outlines([{ row: 499, column: 499 }], { row: 0, column: 0, count: 1000 }, 1)).toBe('M497 497h5v5h-5Z')
})

test.each(['light', 'dark'] as const)('every colour of a line has contrast with the %s page', (theme) => {
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    expect(contrast(lineRamp(theme)(share), PAGE[theme])).toBeGreaterThan(4.5)
  }
})
