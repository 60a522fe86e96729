/** The moves of the recommendation that the address names, drawn over the heatmap. */

import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { applicationsQuery } from '~/api/applications'
import type { Shown } from '~/api/measurements'
import { recommendationQuery } from '~/api/recommendations'
import type { Roster } from '~/api/types'
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

/** Return the moves that the address names; undefined when it names none. */
export function useMoves(options: Options) {
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
    legs,
    /** Number of moves that are shown as made. */
    made,
    /** The key of the leg that stands out: under the pointer, else chosen. */
    pointed,
    chosen,
    point,
    choose,
    /** Undefined while there is nothing to draw. */
    overlay: drawn && { ...drawn, pointed, onPoint: point, onChoose: choose },
    /** VMs that have left the mesh. */
    gone: [...new Set(ends.filter(({ id }) => !isKnown(id)).map(({ name }) => name))],
    /** The number of legs with neither end among the shown rows and columns. */
    outside: (drawn?.arrows ?? [])
      .filter(({ from, to }) => [from, to].every((place) => place === null || (place.row ?? place.column) === null))
      .reduce((sum, { keys }) => sum + keys.length, 0),
    /** A cell in the words of the moves. */
    wordsOf: (cell: Cell) => [
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

export type Moves = NonNullable<ReturnType<typeof useMoves>>

export const taskOf = ({ application, task }: Leg['move']) => `${application.name} / ${task.name}`
