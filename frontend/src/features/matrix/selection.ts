/** The selected VM or zone: where it is in the heatmap, and its values to and from its peers. */

import type { Matrix } from '~/api/matrix'
import type { Roster, Vm, Zone } from '~/api/types'
import type { Side } from '~/charts/heatmap/Axes'
import { isColoured, LOOK, type Worst } from '~/charts/heatmap/grid'
import { type Coding, valueOfCode } from '~/lib/codes'
import type { Granularity } from '~/lib/dimensions'
import type { Line, Part } from './axes'

export interface Named {
  id: string
  name: string
  /** Differs from that of every other. */
  label: string
  zone: string | null
  /** Zone, region, provider and labels, in lower case: what it is found by besides its name. */
  also: string
}

/** Return the VMs or zones of a mesh in the order of its matrix. `zones` and `vms` are those of the tenant, once known. */
export function namedOf(roster: Roster, by: Granularity, zones?: Zone[], vms?: Vm[]): Named[] {
  const placeOf = new Map(zones?.map(({ id, region, provider }) => [id, [region, provider]]))
  const also = (words: (string | undefined)[]) => words.join('\n').toLowerCase()
  if (by === 'zone') {
    return roster.zones.map(({ id, name }) => ({
      id,
      name,
      label: name,
      zone: null,
      also: also(placeOf.get(id) ?? []),
    }))
  }
  const labelsOf = new Map(
    vms?.map(({ id, labels }) => [id, Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)]),
  )
  const counts = new Map<string, number>()
  for (const { name } of roster.vms) counts.set(name, (counts.get(name) ?? 0) + 1)
  return roster.vms.map(({ id, name, zone_id, zone_name }) => ({
    id,
    name,
    label: (counts.get(name) ?? 0) > 1 ? `${name} (${zone_name})` : name,
    zone: zone_name,
    also: also([zone_name, ...(placeOf.get(zone_id) ?? []), ...(labelsOf.get(id) ?? [])]),
  }))
}

/** Return true when the name, the zone, the region or a label of a VM or zone contains a text. */
export const isMatch = ({ label, also }: Named, text: string) => {
  const sought = text.trim().toLowerCase()
  return label.toLowerCase().includes(sought) || also.includes(sought)
}

/**
 * Return the rows and columns that stand out: those that match `find`, and the selected one. A closed zone stands for its
 * VMs. Undefined when there are none.
 */
export function marksOf(
  part: Part,
  entries: readonly Named[],
  find: string | undefined,
  select: string | undefined,
): Record<Side, ReadonlySet<number>> | undefined {
  if (!find && !select) return undefined
  const isFound = (entry: Named) => entry.id === select || Boolean(find && isMatch(entry, find))
  const of = (lines: readonly Line[]) =>
    new Set(lines.flatMap(({ first, count }, at) => (entries.slice(first, first + count).some(isFound) ? [at] : [])))
  return { row: of(part.rows), column: of(part.columns) }
}

export interface Peer extends Named {
  /** Null when all packets are lost. */
  value: number | null
}

/** Values from one VM or zone to all others, or from all others to it. */
export interface Summary {
  median: number | null
  measured: number
  lost: number
  /** The worst first; no change and no loss are not bad. */
  worst: Peer[]
}

const WORST_MOST = 5

/** Return the summary of a row or column of a matrix. */
export function summaryOf(
  { codes, states, columns }: Matrix,
  entries: readonly Named[],
  index: number,
  side: Side,
  coding: Coding,
  worst: Worst,
): Summary {
  const middle = worst.kind === 'furthest' ? worst.middle : 0
  const present: { peer: Named; code: number; isLost: boolean }[] = []
  entries.forEach((peer, other) => {
    const at = side === 'row' ? index * columns + other : other * columns + index
    const [code, state] = [codes[at] as number, states[at] as number]
    const isLost = state === LOOK.crossed
    // An estimate is no measurement.
    const isMeasured = code > 0 && isColoured(state) && state !== LOOK.barred
    if (isLost || isMeasured) present.push({ peer, code, isLost })
  })
  const measured = present.filter(({ isLost }) => !isLost).sort((a, b) => a.code - b.code)
  const badness = ({ code, isLost }: (typeof present)[number]) =>
    isLost ? Number.POSITIVE_INFINITY : Math.abs(code - middle)
  const middleOne = measured[Math.floor((measured.length - 1) / 2)]
  return {
    median: middleOne ? valueOfCode(coding, middleOne.code) : null,
    measured: measured.length,
    lost: present.length - measured.length,
    worst: present
      .filter(({ code, isLost }) => isLost || valueOfCode(coding, code) !== 0)
      .sort((a, b) => badness(b) - badness(a))
      .slice(0, WORST_MOST)
      .map(({ peer, code, isLost }) => ({ ...peer, value: isLost ? null : valueOfCode(coding, code) })),
  }
}
