/** The geometry of a strip. */

export interface Place {
  key: string
  name: string
  group: string
  /** Distance from 0 (nearest) to 1 (farthest); null when unknown. */
  share: number | null
  /** True when the place is occupied. */
  filled: boolean
}

export interface Arc {
  from: number
  to: number
  /** Not among the shown moves. */
  faint: boolean
}

export interface Group {
  name: string
  first: number
  count: number
}

const CELL_MAX = 34
/** Width of all places: that of a panel in a window of 1,280 px. */
const WIDTH = 960
const LABELS = 20

/** Size of a strip, of its cells, and the runs of places of one group. */
export function strip(places: Place[], arcs: Arc[]) {
  const cell = Math.max(6, Math.min(CELL_MAX, Math.floor(WIDTH / Math.max(places.length, 1))))
  const reach = Math.max(0, ...arcs.map(({ from, to }) => Math.abs(from - to) * cell))
  const top = arcs.length === 0 ? 4 : Math.min(90, 18 + reach / 4)
  return { width: places.length * cell, height: top + cell + LABELS, cell, top, groups: runs(places) }
}

/** Neighbours of one group. */
export function runs(places: Place[]): Group[] {
  const groups: Group[] = []
  places.forEach(({ group }, at) => {
    const last = groups.at(-1)
    if (last?.name === group) last.count += 1
    else groups.push({ name: group, first: at, count: 1 })
  })
  return groups
}

/** Return an arc over the cells from the middle of one to the middle of another; longer arcs are higher. */
export function arcPath(from: number, to: number, top: number): string {
  const height = Math.min(top - 6, 10 + Math.abs(to - from) / 4)
  return `M${from} ${top} C${from} ${top - height * 1.33} ${to} ${top - height * 1.33} ${to} ${top - 1}`
}
