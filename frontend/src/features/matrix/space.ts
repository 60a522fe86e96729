/** The heatmaps of zones, of VMs and of a zone pair as pictures of one space: all VMs of a mesh, zone by zone. */

import type { Roster, Zone } from '~/api/types'
import type { Interval, Space } from '~/charts/heatmap/transition'
import type { Point, View } from '~/charts/heatmap/view'
import type { Granularity } from '~/lib/dimensions'
import { type Line, type Part, wholePart } from './axes'

/** Return the places of the rows and columns of a part among all VMs. */
export function spaceOf(part: Part, by: Granularity, roster: Roster, zones: Zone[] | undefined): Space {
  const placeOf = new Map(wholePart(roster, 'vm', zones).rows.map(({ first }, place) => [first, place]))
  const of = (lines: readonly Line[]) => {
    let last = 0
    return lines.map((line): Interval => {
      const { first, count } = by === 'zone' ? (roster.zones[line.first] ?? { first: 0, count: 0 }) : line
      // A zone without VMs has no place: it is between its neighbours.
      const place = count > 0 ? (placeOf.get(first) ?? last) : last
      last = place + count
      return { first: place, count }
    })
  }
  const rows = of(part.rows)
  return { rows, columns: part.rows === part.columns ? rows : of(part.columns) }
}

/** Largest number of zones in view that open into their VMs; fewer in a small mesh, which must be magnified first. */
const OPEN_ZONES = 4
const OPEN_SHARE = 2 / 3
/** Zooming out by this factor from where zones opened closes them: a little more, so that it does not flicker. */
const CLOSE_FACTOR = 1.5

/** Return true when zones are magnified enough to show their VMs. */
export const opensAt = ({ count }: View, zones: number) => count <= Math.min(OPEN_ZONES, zones * OPEN_SHARE) + 1e-6

/** Return true when VMs that opened at a view are zoomed out enough to be zones again. */
export const closesAt = ({ count }: View, opened: number, vms: number) =>
  count >= Math.min(opened * CLOSE_FACTOR, vms) - 1e-6

const endOf = (lines: readonly Interval[]) => {
  const last = lines.at(-1)
  return last ? last.first + last.count : 0
}

/** Return the place at a fraction of the lines. */
const startOf = (lines: readonly Interval[], at: number) => {
  const line = lines[Math.min(lines.length - 1, Math.max(0, Math.floor(at)))]
  return line ? line.first + Math.min(1, at - Math.floor(at)) * line.count : 0
}

/** Return the view of all VMs that shows what a view of zones does, the same path under the pointer. */
export function vmsUnder(view: View, zones: readonly Interval[], at: Point): View {
  const place = (start: number) => startOf(zones, start)
  const last = (start: number) => {
    const end = Math.min(zones.length, start + view.count)
    return end >= zones.length ? endOf(zones) : place(end)
  }
  const count = Math.max(1, last(view.row) - place(view.row), last(view.column) - place(view.column))
  const under = { row: place(view.row + at.y * view.count), column: place(view.column + at.x * view.count) }
  return { row: under.row - at.y * count, column: under.column - at.x * count, count }
}

/** Return the view of zones around a view of VMs, the same zones under the pointer, just too wide to open again. */
export function zonesOver(view: View, zones: readonly Interval[], at: Point): View {
  const zoneAt = (vm: number) => {
    const index = zones.findIndex(({ first, count }) => vm < first + count)
    const zone = zones[index]
    return zone ? index + Math.max(0, vm - zone.first) / zone.count : zones.length
  }
  const count = Math.min(zones.length, Math.min(OPEN_ZONES, zones.length * OPEN_SHARE) * CLOSE_FACTOR)
  const under = { row: zoneAt(view.row + at.y * view.count), column: zoneAt(view.column + at.x * view.count) }
  return { row: under.row - at.y * count, column: under.column - at.x * count, count }
}
