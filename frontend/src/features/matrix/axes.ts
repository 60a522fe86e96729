/** Rows and columns of a heatmap: VMs or zones of a mesh, or the VMs of two of its zones. */

import type { Roster, Zone } from '~/api/types'
import type { Axis, AxisPair, Group } from '~/charts/heatmap/Axes'
import type { Granularity } from '~/lib/dimensions'
import { strings } from './strings'

export interface Entry {
  id: string
  name: string
  zone: string | null
}

/** Consecutive rows or columns of a matrix. */
export interface Range {
  first: number
  count: number
}

/** The part of a mesh that a heatmap shows. */
export interface Part {
  /** Changes when an index stands for something else; a cell belongs to the part it was found in. */
  key: string
  rows: Entry[]
  columns: Entry[]
  axes: AxisPair
  /** The ranges of the matrix that rows and columns are; absent when they are all of it. */
  within?: { rows: Range; columns: Range }
  /** The names of the two zones, when the part is a zone pair. */
  zones?: [string, string]
}

/** Return the key of the part that an address names. */
export const partKey = (by: Granularity, zones?: string) => (by === 'vm' && zones ? zones : by)

/** Return where each region begins; nothing when there is only one. */
function regionsOf(zones: (Range & { id: string })[], known: Zone[] | undefined): Group[] {
  const places = new Map(known?.map((zone) => [zone.id, zone]))
  const providers = new Set(known?.map(({ provider }) => provider))
  const groups: Group[] = []
  for (const { id, first, count } of zones) {
    const zone = places.get(id)
    if (!zone) return []
    const name = providers.size > 1 ? `${zone.provider} ${zone.region}` : zone.region
    const last = groups.at(-1)
    if (last?.name === name) last.count += count
    else groups.push({ name, first, count })
  }
  return groups.length > 1 ? groups : []
}

const levels = (...groups: Group[][]) => groups.filter((level) => level.length > 0)

const axis = (title: string, entries: Entry[], groups: Group[][]): Axis => ({
  title,
  labels: entries.map(({ name }) => name),
  groups,
})

const pairOf = (rows: Entry[], columns: Entry[], rowGroups: Group[][], columnGroups: Group[][]): AxisPair => ({
  rows: axis(strings.fromAxis, rows, rowGroups),
  columns: axis(strings.toAxis, columns, columnGroups),
})

/** Return all of a mesh by VM or by zone. `zones` are the zones of the tenant, which name their regions. */
export function wholePart(roster: Roster, by: Granularity, zones?: Zone[]): Part {
  const occupied = roster.zones.filter(({ count }) => count > 0)
  const entries: Entry[] =
    by === 'zone'
      ? roster.zones.map(({ id, name }) => ({ id, name, zone: null }))
      : roster.vms.map(({ id, name, zone_name }) => ({ id, name, zone: zone_name }))
  const groups =
    by === 'zone'
      ? levels(
          regionsOf(
            roster.zones.map(({ id }, first) => ({ id, first, count: 1 })),
            zones,
          ),
        )
      : levels(regionsOf(occupied, zones), occupied)
  return { key: partKey(by), rows: entries, columns: entries, axes: pairOf(entries, entries, groups, groups) }
}

/** Return the paths from the VMs of one zone to those of another; undefined when the mesh has no VM in one of them. */
export function zonePairPart(roster: Roster, [from, to]: readonly [string, string]): Part | undefined {
  const range = (id: string) => roster.zones.find((zone) => zone.id === id && zone.count > 0)
  const [down, across] = [range(from), range(to)]
  if (!down || !across) return undefined
  const entries = ({ first, count }: Range): Entry[] =>
    roster.vms.slice(first, first + count).map(({ id, name, zone_name }) => ({ id, name, zone: zone_name }))
  const [rows, columns] = [entries(down), entries(across)]
  const group = ({ name, count }: Group) => [[{ name, first: 0, count }]]
  return {
    key: partKey('vm', `${from},${to}`),
    rows,
    columns,
    axes: pairOf(rows, columns, group(down), group(across)),
    within: { rows: down, columns: across },
    zones: [down.name, across.name],
  }
}

/** Return the values of a part of a square matrix with `size` columns, row by row. */
export function cut<T extends Uint16Array | Uint8Array>(
  values: T,
  size: number,
  { rows, columns }: { rows: Range; columns: Range },
): T {
  const part = values.slice(0, rows.count * columns.count) as T
  for (let row = 0; row < rows.count; row++) {
    const start = (rows.first + row) * size + columns.first
    part.set(values.subarray(start, start + columns.count), row * columns.count)
  }
  return part
}
