/** Rows and columns of a heatmap: VMs or zones of a mesh, or the VMs of two of its zones. */

import type { Roster, Zone } from '~/api/types'
import type { Axis, AxisPair, Group } from '~/charts/heatmap/axis'
import type { Granularity } from '~/lib/dimensions'
import { strings } from './strings'

/** Consecutive rows or columns of a matrix. */
export interface Range {
  first: number
  count: number
}

export interface Entry {
  id: string
  name: string
  zone: string | null
}

/** A row or column of the heatmap: one of the matrix, or all VMs of a closed zone. */
export interface Line extends Entry, Range {
  zoneId: string
  /** True when the line stands for the VMs of a zone. */
  isClosed: boolean
}

/** The part of a mesh that a heatmap shows. */
export interface Part {
  /** Changes when an index of the matrix stands for something else. */
  key: string
  rows: Line[]
  columns: Line[]
  axes: AxisPair
  /** The first row and column of the matrix that belong to the part: the address counts cells from there. */
  start: { row: number; column: number }
  /** The two zones, when the part is a zone pair. */
  zones?: [Entry, Entry]
}

/** Return the key of the part that an address names. */
export const partKey = (by: Granularity, zones?: string) => (by === 'vm' && zones ? zones : by)

interface Place extends Range {
  /** In the matrix of zones. */
  index: number
  id: string
  name: string
  provider: string
  region: string
}

/**
 * Return the zones of a mesh with their places: those of a provider and region together. Places are empty until the
 * zones of the tenant are known, which name them.
 */
function placesOf(roster: Roster, known: Zone[] | undefined): Place[] {
  const zones = new Map(known?.map((zone) => [zone.id, zone]))
  const isKnown = roster.zones.every(({ id }) => zones.has(id))
  const places = roster.zones.map((zone, index) => {
    const { provider, region } = (isKnown && zones.get(zone.id)) || { provider: '', region: '' }
    return { ...zone, index, provider, region }
  })
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return places.sort((a, b) => order(a.provider, b.provider) || order(a.region, b.region) || a.index - b.index)
}

/** Return a VM of the roster as a row or column names it. */
export const entryOf = ({ id, name, zone_name }: Roster['vms'][number]): Entry => ({ id, name, zone: zone_name })

const vmLines = (roster: Roster, { id: zoneId, first, count }: Range & { id: string }): Line[] =>
  roster.vms
    .slice(first, first + count)
    .map((vm, at) => ({ ...entryOf(vm), zoneId, first: first + at, count: 1, isClosed: false }))

/** Return the headings over consecutive lines with the same key; none when there is only one. */
function headings(lines: Line[], of: (line: Line) => Omit<Group, 'first' | 'count'>): Group[] {
  const groups: Group[] = []
  lines.forEach((line, first) => {
    const heading = of(line)
    const last = groups.at(-1)
    if (last?.id === heading.id) last.count += 1
    else groups.push({ ...heading, first, count: 1 })
  })
  return groups.length > 1 ? groups : []
}

/** Return the levels of headings: provider, region, and zone over its VMs. */
function levelsOf(lines: Line[], places: Place[], by: Granularity): Group[][] {
  const at = new Map(places.map((place) => [place.id, place]))
  const providersOf = new Map<string, Set<string>>()
  const sizes = new Map<string, number>()
  for (const { provider, region, count } of places) {
    const key = `${provider}/${region}`
    providersOf.set(region, (providersOf.get(region) ?? new Set()).add(provider))
    sizes.set(key, (sizes.get(key) ?? 0) + count)
  }
  const placeOf = ({ zoneId }: Line) => at.get(zoneId) as Place
  const regionName = ({ provider, region }: Place) =>
    (providersOf.get(region)?.size ?? 0) > 1 ? `${provider} ${region}` : region
  const hasRegions = places.some(({ region }) => region !== '')
  return [
    hasRegions
      ? headings(lines, (line) => ({ id: `provider ${placeOf(line).provider}`, name: placeOf(line).provider }))
      : [],
    hasRegions
      ? headings(lines, (line) => {
          const { provider, region } = placeOf(line)
          return {
            id: `region ${provider}/${region}`,
            name: regionName(placeOf(line)),
            title: strings.heading([provider, region], sizes.get(`${provider}/${region}`) ?? 0),
          }
        })
      : [],
    by === 'vm'
      ? headings(lines, (line) => {
          const { id, name, provider, region, count } = placeOf(line)
          return { id, name, title: strings.heading([provider, region, name], count) }
        })
      : [],
  ]
    .filter((level) => level.length > 0)
    .map((level) => (by === 'vm' ? level.map((group) => ({ ...group, isClosed: isClosedGroup(lines, group) })) : level))
}

const isClosedGroup = (lines: Line[], { first, count }: Range) =>
  lines.slice(first, first + count).every(({ isClosed }) => isClosed)

/** Return the zones under a heading; none when no heading has the id. */
export function zonesUnder({ rows, axes }: Part, id: string): string[] {
  const group = axes.rows.groups.flat().find((heading) => heading.id === id)
  if (!group) return []
  return [...new Set(rows.slice(group.first, group.first + group.count).map(({ zoneId }) => zoneId))]
}

/** Return names that differ: a VM with the name of another by its zone. A closed zone below its heading needs no name. */
function labelsOf(lines: Line[], groups: Group[][]): string[] {
  const headed = new Set(groups.flat().map(({ id }) => id))
  const counts = new Map<string, number>()
  for (const { name } of lines) counts.set(name, (counts.get(name) ?? 0) + 1)
  return lines.map(({ name, zone, zoneId, isClosed }) => {
    if (isClosed && headed.has(zoneId)) return ''
    return (counts.get(name) ?? 0) > 1 && zone ? `${name} (${zone})` : name
  })
}

const axis = (title: string, lines: Line[], groups: Group[][]): Axis => ({
  title,
  labels: labelsOf(lines, groups),
  titles: lines.map(({ name, zone, count, isClosed }) =>
    isClosed ? strings.closedZone(name, count) : zone ? strings.inZone(name, zone) : name,
  ),
  groups,
})

const pairOf = (rows: Line[], columns: Line[], rowGroups: Group[][], columnGroups: Group[][]): AxisPair => ({
  rows: axis(strings.fromAxis, rows, rowGroups),
  columns: axis(strings.toAxis, columns, columnGroups),
})

/** Return all of a mesh by VM or by zone. `zones` are the zones of the tenant, which name their regions. */
export function wholePart(
  roster: Roster,
  by: Granularity,
  zones?: Zone[],
  isClosed: (zoneId: string) => boolean = () => false,
): Part {
  const places = placesOf(roster, zones)
  const lines: Line[] =
    by === 'zone'
      ? places.map(({ id, name, index }) => ({
          ...{ id, name, zone: null, zoneId: id, isClosed: false },
          ...{ first: index, count: 1 },
        }))
      : places.flatMap((place) => {
          const { id, name, first, count } = place
          if (count === 0 || !isClosed(id)) return vmLines(roster, place)
          return [{ id, name, zone: null, zoneId: id, first, count, isClosed: true }]
        })
  const groups = levelsOf(lines, places, by)
  return {
    key: partKey(by),
    rows: lines,
    columns: lines,
    axes: pairOf(lines, lines, groups, groups),
    start: { row: 0, column: 0 },
  }
}

/** Return the paths from the VMs of one zone to those of another; undefined when the mesh has no VM in one of them. */
export function zonePairPart(roster: Roster, [from, to]: readonly [string, string]): Part | undefined {
  const range = (id: string) => roster.zones.find((zone) => zone.id === id && zone.count > 0)
  const [down, across] = [range(from), range(to)]
  if (!down || !across) return undefined
  const [rows, columns] = [vmLines(roster, down), vmLines(roster, across)]
  const group = ({ id, name, count }: Range & { id: string; name: string }) => [[{ id, name, first: 0, count }]]
  const entry = ({ id, name }: { id: string; name: string }): Entry => ({ id, name, zone: null })
  return {
    key: partKey('vm', `${from},${to}`),
    rows,
    columns,
    axes: pairOf(rows, columns, group(down), group(across)),
    start: { row: down.first, column: across.first },
    zones: [entry(down), entry(across)],
  }
}

/** Return the part with its rows and columns in another order, which has no headings. */
export function reordered(part: Part, rows: readonly number[], columns: readonly number[]): Part {
  const pick = (lines: Line[], order: readonly number[]) => order.map((at) => lines[at] as Line)
  const [down, across] = [pick(part.rows, rows), pick(part.columns, columns)]
  return { ...part, rows: down, columns: across, axes: pairOf(down, across, [], []) }
}
