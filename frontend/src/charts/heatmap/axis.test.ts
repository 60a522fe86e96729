import { describe, expect, test } from 'vitest'
import { type Axis, type Group, gutters, sideOf } from './axis'

const REGIONS = [
  'eu-west-1',
  'us-east-1',
  'sa-east-1',
  'ap-south-1',
  'eu-central-1',
  'us-west-2',
  'ca-central-1',
  'af-south-1',
]

/** Return an axis of `zones` zones in regions of three, with `vms` VMs each. */
function axisOf(zones: number, vms: number): Axis {
  const names = Array.from({ length: zones }, (_, at) => `${REGIONS[Math.floor(at / 3)]}${'abc'[at % 3]}`)
  const group = (name: string, at: number, count: number): Group => ({ id: name, name, first: at * count, count })
  return {
    title: 'from',
    labels: names.flatMap((name) => Array.from({ length: vms }, (_, at) => `web-shop-${name}-${at}`)),
    groups: [
      REGIONS.slice(0, Math.ceil(zones / 3)).map((name, at) => group(name, at, 3 * vms)),
      names.map((name, at) => group(name, at, vms)),
    ],
  }
}

describe.each([
  [8, 12],
  [12, 25],
  [24, 41],
])('%i zones of %i VMs', (zones, vms) => {
  const axis = axisOf(zones, vms)
  const extent = { width: 1_000, height: 760 }
  const room = gutters({ rows: axis, columns: axis }, zones * vms, extent)

  test.each(['left', 'top'] as const)('every zone has a different name at the %s', (side) => {
    for (const { texts } of room[side].bands) {
      expect(texts.every((text) => text.length >= 3)).toBe(true)
      expect(new Set(texts).size).toBe(texts.length)
    }
  })

  test('most of the room is left to the picture', () => {
    expect(sideOf(room, extent, zones * vms)).toBeGreaterThan(0.7 * extent.height)
  })
})

test('only few VMs have labels', () => {
  const extent = { width: 1_000, height: 760 }
  const labels = (vms: number) =>
    gutters({ rows: axisOf(3, vms), columns: axisOf(3, vms) }, 3 * vms, extent).left.labels
  expect(labels(10)?.length).toBe(30)
  expect(labels(100)).toBeNull()
  // Magnified, the VMs in view have names, however large the mesh is.
  const large = axisOf(12, 25)
  const zoomed = gutters({ rows: large, columns: large }, 30, extent)
  for (const side of ['left', 'top'] as const) expect(new Set(zoomed[side].labels).size).toBe(300)
})

test.each([1, 6, 12, 24])('a narrow window keeps room for the picture of %i zones', (zones) => {
  const axis = axisOf(zones, 1)
  const room = gutters({ rows: axis, columns: axis }, zones, { width: 343, height: 500 })
  // Twenty-four rows are too low for names.
  if (zones <= 12) for (const { texts } of room.left.bands) expect(texts.every((text) => text.length >= 3)).toBe(true)
  expect(room.left.size + sideOf(room, { width: 343, height: 500 }, zones)).toBeLessThanOrEqual(343)
})
