/** The moves of the recommendation that the address names, drawn over the heatmap. */

import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { applicationsQuery } from '~/api/applications'
import type { Shown } from '~/api/measurements'
import { recommendationQuery } from '~/api/recommendations'
import type { Recommendation, Roster } from '~/api/types'
import type { Overlay } from '~/charts/heatmap/Arrows'
import type { Cell } from '~/charts/heatmap/grid'
import type { Part } from './axes'
import { arrowsOf, cellsOf, type Leg, legsOf, linksOf, placeIn, placesAfter } from './moves'
import type { ChangeSearch, MatrixSearch } from './search'
import { strings } from './strings'

interface Options {
  meshId: string
  by: Shown['by']
  search: MatrixSearch
  part: Part | undefined
  roster: Roster | undefined
  onSearch: ChangeSearch
  /** Applications can be read: the paths that they use are outlined. */
  hasApplications?: boolean
}

export interface Moves {
  recommendation: Recommendation | undefined
  error: Error | null
  retry: () => void
  legs: readonly Leg[]
  /** How many of them are shown as carried out. */
  made: number
  /** The key of the leg that stands out, under the pointer or chosen. */
  pointed: string | null
  /** The key of the leg that the address names. */
  chosen: string | null
  point: (key: string | null) => void
  choose: (key: string) => void
  /** Undefined while there is nothing to draw. */
  overlay: Overlay | undefined
  /** VMs that have left the mesh. */
  gone: string[]
  /** The number of legs with neither end among the shown rows and columns. */
  outside: number
  /** A cell in the words of the moves. */
  wordsOf: (cell: Cell) => string[]
}

/** Return the moves that the address names; undefined when it names none. */
export function useMoves(options: Options): Moves | undefined {
  const { meshId, by, search, part, roster, onSearch, hasApplications = true } = options
  const query = useQuery({ ...recommendationQuery(search.moves ?? ''), enabled: Boolean(search.moves) })
  const { data: applications } = useQuery({ ...applicationsQuery, enabled: Boolean(search.moves) && hasApplications })
  const [hovered, point] = useState<string | null>(null)
  const recommendation = search.moves ? query.data?.recommendation : undefined
  const isHere = recommendation?.mesh.id === meshId
  const legs = useMemo(() => (isHere ? legsOf(recommendation.steps) : []), [isHere, recommendation])
  const made = Math.min(search.step ?? legs.length, legs.length)
  const placeOf = useMemo(() => part && roster && placeIn(part, roster, by), [part, roster, by])
  const drawn = useMemo(() => {
    if (!placeOf || legs.length === 0) return undefined
    const places = placesAfter(legs, made)
    return { arrows: arrowsOf(legs, made, placeOf), cells: cellsOf(linksOf(applications ?? [], places), placeOf) }
  }, [legs, made, placeOf, applications])
  if (!search.moves) return undefined

  const chosen = legs.some(({ key }) => key === String(search.move)) ? String(search.move) : null
  const pointed = hovered ?? chosen
  const choose = (key: string) => void onSearch({ move: key === chosen ? undefined : Number(key) })
  const isKnown = (id: string) => roster?.vms.some((vm) => vm.id === id) ?? true
  const ends = legs.flatMap(({ from, to }) => (from ? [from, to] : [to]))
  const isAt = ({ row, column }: Cell, id: string) => {
    const place = placeOf?.(id)
    return place?.row === row && place.column === column
  }
  return {
    recommendation,
    error: query.error,
    retry: () => void query.refetch(),
    legs,
    made,
    pointed,
    chosen,
    point,
    choose,
    overlay: drawn && { ...drawn, pointed, onPoint: point, onChoose: choose },
    gone: [...new Set(ends.filter(({ id }) => !isKnown(id)).map(({ name }) => name))],
    outside: (drawn?.arrows ?? [])
      .filter(({ from, to }) => [from, to].every((place) => place === null || (place.row ?? place.column) === null))
      .reduce((sum, { keys }) => sum + keys.length, 0),
    wordsOf: (cell) => [
      ...legs.flatMap(({ move, from, to }) => [
        ...(from && isAt(cell, from.id) ? [strings.leaves(taskOf(move), to.name)] : []),
        ...(isAt(cell, to.id) ? [strings.arrives(taskOf(move), from?.name)] : []),
      ]),
      ...(drawn?.cells.some(({ row, column }) => row === cell.row && column === cell.column)
        ? [strings.pathOfMoved(made, legs.length)]
        : []),
    ],
  }
}

export const taskOf = ({ application, task }: Leg['move']) => `${application.name} / ${task.name}`
