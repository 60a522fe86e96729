/** Moves of tasks as arrows of the heatmap, and the paths that their applications use before and after them. */

import type { Application, Move, Roster } from '~/api/types'
import type { Arrow, Place } from '~/charts/heatmap/arrows'
import type { Cell } from '~/charts/heatmap/grid'
import type { Granularity } from '~/lib/dimensions'
import type { Line, Part } from './axes'

type VmName = Pick<Move['target'], 'id' | 'name'>

/** One VM to another. A move through a third VM has two. */
export interface Leg {
  /** Its number, as text: 1 is carried out first. */
  key: string
  move: Move
  /** Null when the task waited. */
  from: VmName | null
  to: VmName
  /** Performance lost before and after it, shares of the best; null when unknown. */
  lost: [number | null, number | null]
}

const lostBy = ({ gain }: Move): Leg['lost'] => (gain ? [1 - gain.before.mean, 1 - gain.after.mean] : [null, null])

/** Return the legs of moves in the order to carry them out. A task leaves a VM between once its group has made room. */
export function legsOf(moves: readonly Move[]): Leg[] {
  const legs: Omit<Leg, 'key'>[] = []
  moves.forEach((move, at) => {
    const lost = lostBy(move)
    legs.push({ move, from: move.source, to: move.via ?? move.target, lost: move.via ? [lost[0], lost[0]] : lost })
    if (moves[at + 1]?.group === move.group) return
    for (const parked of moves) {
      if (parked.via && parked.group === move.group) {
        legs.push({ move: parked, from: parked.via, to: parked.target, lost: lostBy(parked) })
      }
    }
  })
  return legs.map((leg, at) => ({ ...leg, key: String(at + 1) }))
}

/** Return the VMs of tasks, by the ids of both, once the first `made` legs were carried out. */
export function placesAfter(legs: readonly Leg[], made: number): Map<string, string | null> {
  const places = new Map<string, string | null>()
  legs.forEach(({ move, from, to }, at) => {
    if (!places.has(move.task.id)) places.set(move.task.id, from?.id ?? null)
    if (at < made) places.set(move.task.id, to.id)
  })
  return places
}

/** Return the pairs of VMs between which moved tasks communicate, once some of them were moved; each has two paths. */
export function linksOf(applications: readonly Application[], places: Map<string, string | null>): [string, string][] {
  return applications.flatMap(({ shape, tasks, edges }) => {
    const vmOf = ({ id, vm }: Application['tasks'][number]) => (places.has(id) ? places.get(id) : vm?.id)
    const root = tasks.find((task) => task.root)
    const named = (name: string) => tasks.find((task) => task.name === name)
    const pairs =
      shape === 'star'
        ? tasks.map((task) => [root, task])
        : edges.map((edge) => [named(edge.source), named(edge.target)])
    return pairs.flatMap(([one, other]): [string, string][] => {
      if (!one || !other || !(places.has(one.id) || places.has(other.id))) return []
      const [source, target] = [vmOf(one), vmOf(other)]
      return source && target && source !== target ? [[source, target]] : []
    })
  })
}

/** Return the function from the id of a VM to its row and its column. */
export function placeIn(part: Part, roster: Roster, by: Granularity): (id: string | undefined) => Place {
  const at = new Map(roster.vms.map(({ id }, index) => [id, index]))
  const lineOf = (lines: readonly Line[], index: number) => {
    const zone = roster.vms[index]?.zone_id
    const found = lines.findIndex(({ first, count, zoneId }) =>
      by === 'zone' ? zoneId === zone : index >= first && index < first + count,
    )
    return found < 0 ? null : found
  }
  return (id) => {
    const index = at.get(id ?? '')
    return index === undefined
      ? { row: null, column: null }
      : { row: lineOf(part.rows, index), column: lineOf(part.columns, index) }
  }
}

/** Return an arrow for all legs between the same two places. */
export function arrowsOf(legs: readonly Leg[], made: number, placeOf: ReturnType<typeof placeIn>): Arrow[] {
  const groups = new Map<string, Leg[]>()
  for (const leg of legs) {
    const key = JSON.stringify([leg.from && placeOf(leg.from.id), placeOf(leg.to.id)])
    groups.set(key, [...(groups.get(key) ?? []), leg])
  }
  const most = (values: (number | null)[]) =>
    values.reduce((a, b) => (a === null ? b : b === null ? a : Math.max(a, b)))
  return [...groups.values()].map((group) => {
    const [first] = group as [Leg, ...Leg[]]
    return {
      keys: group.map(({ key }) => key),
      from: first.from && placeOf(first.from.id),
      to: placeOf(first.to.id),
      shares: [most(group.map(({ lost }) => lost[0])), most(group.map(({ lost }) => lost[1]))],
      label: group.length > 2 ? `${group.length} ×` : group.map(({ key }) => key).join(', '),
      isMade: group.every(({ key }) => Number(key) <= made),
    }
  })
}

/** Return the cells of both directions between pairs of VMs. */
export function cellsOf(links: readonly [string, string][], placeOf: ReturnType<typeof placeIn>): Cell[] {
  const cells = new Map<string, Cell>()
  for (const [source, target] of links) {
    for (const [from, to] of [
      [source, target],
      [target, source],
    ]) {
      const [{ row }, { column }] = [placeOf(from), placeOf(to)]
      if (row !== null && column !== null) cells.set(`${row} ${column}`, { row, column })
    }
  }
  return [...cells.values()]
}
