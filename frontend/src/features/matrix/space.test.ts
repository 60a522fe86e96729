import { expect, test } from 'vitest'
import type { Zone } from '~/api/types'
import { rosterOf } from '~/testing/roster'
import { wholePart, zonePairPart } from './axes'
import { closesAt, opensAt, spaceOf, vmsUnder, zonesOver } from './space'

const ROSTER = rosterOf(['a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1'])
/** The zones are shown as c, a, b: by region. */
const ZONES = [
  { id: 'a', region: 'us', provider: 'aws' },
  { id: 'b', region: 'us', provider: 'aws' },
  { id: 'c', region: 'eu', provider: 'aws' },
] as Zone[]
const zones = spaceOf(wholePart(ROSTER, 'zone', ZONES), 'zone', ROSTER, ZONES)

const places = (lines: readonly { first: number; count: number }[]) => lines.map(({ first, count }) => [first, count])

test('zones, VMs and a zone pair have places in one space, in the order of the picture', () => {
  expect(places(zones.rows)).toEqual([
    [0, 1],
    [1, 2],
    [3, 3],
  ])
  const vms = spaceOf(wholePart(ROSTER, 'vm', ZONES), 'vm', ROSTER, ZONES)
  expect(places(vms.rows).map(([first]) => first)).toEqual([0, 1, 2, 3, 4, 5])
  const pair = zonePairPart(ROSTER, ['b', 'c'])
  const space = pair && spaceOf(pair, 'vm', ROSTER, ZONES)
  expect(space && [places(space.rows), places(space.columns)]).toEqual([
    [
      [3, 1],
      [4, 1],
      [5, 1],
    ],
    [[0, 1]],
  ])
})

test.each([
  [24, 5, false],
  [24, 4, true],
  [3, 3, false],
  [3, 2, true],
  [1, 1, false],
])('of %d zones, %d in view open: %s', (all, count, isOpen) => {
  expect(opensAt({ row: 0, column: 0, count }, all)).toBe(isOpen)
})

test('VMs close when zoomed out beyond where they opened, at the latest when all are in view', () => {
  const at = (count: number) => closesAt({ row: 0, column: 0, count }, 40, 50)
  expect([at(40), at(49), at(50)]).toEqual([false, false, true])
  expect(closesAt({ row: 0, column: 0, count: 60 }, 40, 1_000)).toBe(true)
})

test('the path under the pointer stays there when zones open, and when they close again', () => {
  const view = { row: 0.5, column: 1, count: 2 }
  const at = { x: 0.25, y: 0.75 }
  // Row 0.5 + 1.5 = 2: the first VM of zone b; column 1 + 0.5: the second VM of zone a.
  const opened = vmsUnder(view, zones.rows, at)
  expect(opened.row + at.y * opened.count).toBeCloseTo(3)
  expect(opened.column + at.x * opened.count).toBeCloseTo(2)
  const closed = zonesOver(opened, zones.rows, at)
  expect(closed.row + at.y * closed.count).toBeCloseTo(2)
  expect(closed.column + at.x * closed.count).toBeCloseTo(1.5)
  expect(opensAt(closed, 3)).toBe(false)
})
