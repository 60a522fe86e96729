/** Which paths of a heatmap have only old values, named by the largest parts of the mesh that have no other. */

import type { Matrix } from '~/api/matrix'
import type { Roster } from '~/api/types'
import { LOOK } from '~/charts/heatmap/grid'
import type { Granularity } from '~/lib/dimensions'

export interface Staleness {
  /** Paths that could have a value: planned, and served by their responder. */
  paths: number
  stale: number
  /** Paths whose newest window is recent: with a value, or with every packet lost. */
  recent: number
  /** Names of zones of which every path is stale. */
  zones: string[]
  /** Pairs of two zones, in this direction, of which every path is stale; without those of `zones`. */
  pairs: { from: string; to: string }[]
}

interface Count {
  paths: number
  stale: number
}

const isWholly = ({ paths, stale }: Count) => paths > 0 && stale === paths

/** Return the zone of each row of a matrix, as its place in the roster. */
function zonesOfRows({ zones, vms }: Roster, by: Granularity): number[] {
  if (by === 'zone') return zones.map((_, place) => place)
  const of = new Array<number>(vms.length).fill(-1)
  zones.forEach(({ first, count }, place) => {
    of.fill(place, first, first + count)
  })
  return of
}

/** Return what is stale in the matrix of a mesh. */
export function stalenessOf(
  { states, rows }: Pick<Matrix, 'states' | 'rows'>,
  roster: Roster,
  by: Granularity,
): Staleness {
  const of = zonesOfRows(roster, by)
  const names = roster.zones.map(({ name }) => name)
  const counted = { paths: new Uint32Array(names.length ** 2), stale: new Uint32Array(names.length ** 2) }
  let recent = 0
  // A million cells: no call and no object for each.
  for (let row = 0, cell = 0; row < rows; row++) {
    const start = (of[row] as number) * names.length
    for (let column = 0; column < rows; column++, cell++) {
      const look = states[cell]
      const zone = of[column] as number
      if (look === LOOK.dotted || look === LOOK.ringed || start < 0 || zone < 0) continue
      counted.paths[start + zone] = (counted.paths[start + zone] as number) + 1
      if (look === LOOK.veiled) counted.stale[start + zone] = (counted.stale[start + zone] as number) + 1
      else if (look !== LOOK.lined) recent += 1
    }
  }
  const countOf = (at: number): Count => ({ paths: counted.paths[at] as number, stale: counted.stale[at] as number })
  const pairs = names.map((_, row) => names.map((_, column) => countOf(row * names.length + column)))
  const sum = (counts: Count[]): Count => ({
    paths: counts.reduce((all, { paths }) => all + paths, 0),
    stale: counts.reduce((all, { stale }) => all + stale, 0),
  })
  const all = sum(pairs.flat())
  const isStale = names.map((_, at) => isWholly(sum([...(pairs[at] ?? []), ...pairs.flatMap((row) => row[at] ?? [])])))
  return {
    ...all,
    recent,
    zones: names.filter((_, at) => isStale[at]),
    pairs: names.flatMap((from, row) =>
      names
        .map((to, column) => ({ from, to, column }))
        .filter(
          ({ column }) =>
            column !== row && isWholly(pairs[row]?.[column] as Count) && !isStale[row] && !isStale[column],
        )
        .map(({ to }) => ({ from, to })),
    ),
  }
}
