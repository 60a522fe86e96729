/** How an artifact has spread: where the bytes of each copy came from, and the places and lines of the picture. */

import type { ArtifactCopies, ArtifactCopy } from '~/api/types'

/** Where bytes came from, seen from the VM that took them; `before` were there when it was asked. */
export type Origin = 'nearby' | 'elsewhere' | 'backend' | 'before'

export interface Segment {
  origin: Origin
  /** Share of the file, 0 to 1. */
  share: number
}

/** Return the parts of what a copy holds by where they came from, in a fixed order, without empty ones. */
export function segmentsOf(copy: ArtifactCopy, sizeBytes: number, zones: ReadonlyMap<string, string>): Segment[] {
  const bytes = { nearby: 0, elsewhere: 0, backend: 0 }
  for (const { vm_id, size_bytes } of copy.sources) bytes[originOf(copy, vm_id, zones)] += size_bytes
  const fetched = bytes.nearby + bytes.elsewhere + bytes.backend
  const total = Math.max(sizeBytes, fetched, 1)
  const before = Math.max(0, copy.share - fetched / total)
  const shares: Segment[] = [
    { origin: 'before', share: before < 0.005 ? 0 : before },
    { origin: 'nearby', share: bytes.nearby / total },
    { origin: 'elsewhere', share: bytes.elsewhere / total },
    { origin: 'backend', share: bytes.backend / total },
  ]
  return shares.filter(({ share }) => share > 0)
}

function originOf(copy: ArtifactCopy, source: string | null, zones: ReadonlyMap<string, string>) {
  if (source === null) return 'backend'
  return zones.get(source) === copy.zone ? 'nearby' : 'elsewhere'
}

/** Return the zone of each VM that has a copy. */
export const zonesOf = ({ items }: ArtifactCopies) => new Map(items.map(({ vm_id, zone }) => [vm_id, zone]))

export interface Place {
  id: string
  name: string
  share: number
  x: number
  y: number
}

export interface Line {
  from: Place
  to: Place
  origin: Origin
  /** Share of the largest line, 0 to 1. */
  weight: number
}

export interface Picture {
  width: number
  height: number
  /** Width of a place. */
  place: number
  zones: { name: string; x: number }[]
  places: Place[]
  lines: Line[]
}

export const WIDTH = 720
export const PLACE_HEIGHT = 26
const BACKEND = 'backend'
/** More copies are drawn as one place per zone. */
const MOST_PLACES = 40
const GAP = 28
const ROW = PLACE_HEIGHT + 14
const HEAD = 64

/** Lay out the picture: a column per zone, a place per VM, the backend above them. */
export function pictureOf(copies: ArtifactCopies, backend: string): Picture {
  const zones = zonesOf(copies)
  const columns = Map.groupBy(copies.items, ({ zone }) => zone)
  const merged = copies.items.length > MOST_PLACES
  const place = Math.min(150, (WIDTH - GAP * (columns.size + 1)) / Math.max(1, columns.size))
  const left = (WIDTH - columns.size * place - (columns.size - 1) * GAP) / 2
  const places = new Map<string, Place>()
  const placeOf = (vmId: string | null) =>
    vmId === null ? places.get(BACKEND) : places.get(merged ? (zones.get(vmId) ?? '') : vmId)
  const heads: Picture['zones'] = []
  let rows = 0
  for (const [column, [zone, members]] of [...columns].entries()) {
    const x = left + column * (place + GAP)
    heads.push({ name: zone, x: x + place / 2 })
    const drawn = merged
      ? [{ id: zone, name: `${members.length} VMs`, share: meanShare(members) }]
      : members.map(asPlace)
    for (const [row, one] of drawn.entries()) places.set(one.id, { ...one, x, y: HEAD + row * ROW })
    rows = Math.max(rows, drawn.length)
  }
  if (copies.backend_bytes > 0)
    places.set(BACKEND, { id: BACKEND, name: backend, share: 1, x: (WIDTH - place) / 2, y: 4 })
  const bytes = new Map<string, { from: Place; to: Place; origin: Origin; bytes: number }>()
  for (const copy of copies.items) {
    const to = placeOf(copy.vm_id)
    for (const { vm_id, size_bytes } of copy.sources) {
      const from = placeOf(vm_id)
      if (!from || !to || from === to || size_bytes === 0) continue
      const key = `${from.id} ${to.id}`
      const line = bytes.get(key) ?? { from, to, origin: originOf(copy, vm_id, zones), bytes: 0 }
      bytes.set(key, { ...line, bytes: line.bytes + size_bytes })
    }
  }
  const most = Math.max(1, ...[...bytes.values()].map((line) => line.bytes))
  return {
    width: WIDTH,
    height: HEAD + rows * ROW,
    place,
    zones: heads,
    places: [...places.values()],
    lines: [...bytes.values()].map(({ bytes, ...line }) => ({ ...line, weight: bytes / most })),
  }
}

const asPlace = ({ vm_id, name, share }: ArtifactCopy) => ({ id: vm_id, name, share })

const meanShare = (members: readonly ArtifactCopy[]) =>
  members.reduce((sum, { share }) => sum + share, 0) / members.length

/** Return the path of a line: within a column it bends to the side, otherwise it leaves and arrives level. */
export function pathOf({ from, to }: Line, place: number): string {
  const middle = (one: Place) => one.y + PLACE_HEIGHT / 2
  if (from.x === to.x) {
    const x = from.x + place
    const bend = x + 12 + Math.abs(from.y - to.y) / 8
    return `M${x} ${middle(from)}C${bend} ${middle(from)} ${bend} ${middle(to)} ${x} ${middle(to)}`
  }
  const [start, end] = from.x < to.x ? [from.x + place, to.x] : [from.x, to.x + place]
  const half = (start + end) / 2
  return `M${start} ${middle(from)}C${half} ${middle(from)} ${half} ${middle(to)} ${end} ${middle(to)}`
}
