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
  const size = names.length
  const [paths, stale] = [new Uint32Array(size ** 2), new Uint32Array(size ** 2)]
  let recent = 0
  // A million cells: no call and no object for each.
  for (let row = 0, cell = 0; row < rows; row++) {
    const start = (of[row] as number) * size
    for (let column = 0; column < rows; column++, cell++) {
      const look = states[cell]
      const zone = of[column] as number
      if (look === LOOK.dotted || look === LOOK.ringed || start < 0 || zone < 0) continue
      paths[start + zone] = (paths[start + zone] as number) + 1
      if (look === LOOK.veiled) stale[start + zone] = (stale[start + zone] as number) + 1
      else if (look !== LOOK.lined) recent += 1
    }
  }
  const sum = (counts: Uint32Array, at: number[]) => at.reduce((all, place) => all + (counts[place] ?? 0), 0)
  const isWholly = (at: number[]) => sum(paths, at) > 0 && sum(stale, at) === sum(paths, at)
  const isStale = names.map((_, zone) => isWholly(names.flatMap((_, to) => [zone * size + to, to * size + zone])))
  return {
    paths: sum(paths, [...paths.keys()]),
    stale: sum(stale, [...stale.keys()]),
    recent,
    zones: names.filter((_, at) => isStale[at]),
    pairs: names.flatMap((from, row) =>
      names
        .map((to, column) => ({ from, to, column }))
        .filter(({ column }) => column !== row && !isStale[row] && !isStale[column] && isWholly([row * size + column]))
        .map(({ to }) => ({ from, to })),
    ),
  }
}
