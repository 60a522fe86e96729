/** The question of the transfer planner as the address holds it. */

import * as v from 'valibot'
import type { TransferQuestion } from '~/api/types'
import { flag, identifier, integer, number, searchParser } from '~/lib/searchParams'

export const TOPOLOGIES = ['star', 'two_rack', 'four_rack', 'zones'] as const
export type Topology = (typeof TOPOLOGIES)[number]

export interface TransferSearch {
  /** Lines "source, target, megabytes"; without any, the sort. */
  list?: string
  mesh?: string
  /** Count token buckets and trials as capacities. */
  measured?: true | undefined
  topology?: Topology
  workers?: number
  size?: number
  skew?: number
  capacity?: number
  oversubscription?: number
  /** Run of the bulk sender that is shown. */
  run?: string
}

/** Racks behind uplinks, as most clouds are; on one switch a plan gains little. */
export const FIRST_TOPOLOGY: Topology = 'two_rack'
export const FIRST = { workers: 16, size: 10, skew: 0.8, capacity: 10, oversubscription: 4 } as const

/** A longer list stays in the page: servers refuse longer addresses. */
export const LIST_MAX = 20_000
export const TRANSFERS_MAX = 600

export const transferSearch = searchParser<TransferSearch>(
  {
    list: v.pipe(v.string(), v.nonEmpty(), v.maxLength(LIST_MAX)),
    mesh: identifier,
    measured: flag,
    run: identifier,
    topology: v.picklist(TOPOLOGIES),
    workers: integer(2),
    size: number(0),
    skew: number(0),
    capacity: number(0),
    oversubscription: number(1),
  },
  { topology: FIRST_TOPOLOGY, ...FIRST },
)

export interface Row {
  source: string
  target: string
  size_bytes: number
}

/** Return the transfers of a text, one a line, or the number of the first line that is none. */
export function rowsOf(text: string): Row[] | number {
  const rows: Row[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [source, target, megabytes, ...more] = line.split(/[,;\t]/).map((cell) => cell.trim())
    const size = Number(megabytes)
    if (!source || !target || source === target || !(size > 0) || !Number.isFinite(size) || more.length > 0)
      return at + 1
    rows.push({ source, target, size_bytes: 1e6 * size })
  }
  return rows
}

/** Return the request of a question; null when its list cannot be read. */
export function requestOf(search: TransferSearch): TransferQuestion | null {
  const asked = { ...FIRST, ...search }
  const rows = rowsOf(search.list ?? '')
  if (typeof rows === 'number') return null
  const isListed = rows.length > 0
  const topology = search.topology ?? FIRST_TOPOLOGY
  const isMesh = isListed && search.mesh !== undefined
  return {
    transfers: rows,
    sort: isListed ? null : { workers: asked.workers, size_gb: asked.size, skew: asked.skew },
    topology: topology === 'zones' && !isMesh ? FIRST_TOPOLOGY : topology,
    capacity_gbit: asked.capacity,
    capacities_gbit: {},
    oversubscription: asked.oversubscription,
    connections_max: 32,
    mesh: isMesh ? (search.mesh ?? null) : null,
    measured_capacities: isMesh && search.measured === true,
    minutes: 60,
    window_mib: 4,
  }
}
