import { expect, test } from 'vitest'
import { type Interval, isSameSpace, type Placed, sameRectangles, transformOf } from './transition'
import { type View, wholeView } from './view'

/** Lines of these lengths, one after the other. */
function lines(counts: readonly number[], first = 0): Interval[] {
  let at = first
  return counts.map((count) => {
    at += count
    return { first: at - count, count }
  })
}

function placed(rows: Interval[], columns: Interval[], cell: number, view?: View): Placed {
  const shape = { rows: rows.length, columns: columns.length }
  return { space: { rows, columns }, shape, cell, view: view ?? wholeView(shape) }
}

const ZONES = lines([2, 3, 1])
const zones = placed(ZONES, ZONES, 100)
/** The paths from the second zone to the first. */
const pair = placed(lines([1, 1, 1], 2), lines([1, 1]), 90)
const vms = placed(lines([1, 1, 1, 1, 1, 1]), lines([1, 1, 1, 1, 1, 1]), 50)

test('a zone pair comes out of its cell', () => {
  expect(sameRectangles(zones, pair)).toEqual([
    { x: { start: 0, end: 100 }, y: { start: 100, end: 200 } },
    { x: { start: 0, end: 180 }, y: { start: 0, end: 270 } },
  ])
})

test('all zones and all VMs fill the picture', () => {
  expect(sameRectangles(zones, vms)).toEqual([
    { x: { start: 0, end: 300 }, y: { start: 0, end: 300 } },
    { x: { start: 0, end: 300 }, y: { start: 0, end: 300 } },
  ])
})

test('a magnified part of the VMs is a part of a zone', () => {
  // Rows 2 and 3 are two of the three VMs of the second zone, columns 0 and 1 all of the first.
  const part = placed(vms.space.rows as Interval[], vms.space.columns as Interval[], 150, {
    row: 2,
    column: 0,
    count: 2,
  })
  const [from, to] = sameRectangles(zones, part) ?? []
  expect(from?.y.start).toBeCloseTo(100)
  expect(from?.y.end).toBeCloseTo(100 + 200 / 3)
  expect(from?.x).toEqual({ start: 0, end: 100 })
  expect(to).toEqual({ x: { start: 0, end: 300 }, y: { start: 0, end: 300 } })
})

test('pictures of other paths, or in another order, have no common way', () => {
  const other = placed(lines([1], 5), lines([1, 1]), 90)
  expect(sameRectangles(pair, other)).toBeNull()
  const reversed = placed(ZONES.toReversed(), ZONES, 100)
  expect(sameRectangles(zones, reversed)).toBeNull()
})

test('a transform moves one rectangle onto the other', () => {
  const [from, to] = sameRectangles(zones, pair) ?? []
  // x: 0…100 → 0…180; y: 100…200 → 0…270.
  expect(from && to && transformOf(from, to)).toBe('matrix(1.8, 0, 0, 2.7, 0, -270)')
  expect(from && transformOf(from, from)).toBe('matrix(1, 0, 0, 1, 0, 0)')
})

test('a space with the same places is the same, whatever object it is', () => {
  expect(isSameSpace(zones.space, { rows: lines([2, 3, 1]), columns: lines([2, 3, 1]) })).toBe(true)
  expect(isSameSpace(zones.space, pair.space)).toBe(false)
  expect(isSameSpace(undefined, zones.space)).toBe(false)
})
