import { useEffect, useLayoutEffect, useMemo, useState } from 'react'
import type { Grid, Worst } from '~/charts/heatmap/grid'
import { byWorst, type Ordering } from '~/charts/heatmap/order'
import { orderAside } from '~/charts/heatmap/orderAside'
import { type Part, reordered } from './axes'
import { byName, type Order } from './order'

interface Held extends Ordering {
  key: string
  lines: string
}

interface Options {
  order: Order
  /** In the order of zones; undefined while it is loading. */
  part: Part | undefined
  /** The cells of that part; another function when they may differ. */
  cells: () => Grid | undefined
  worst: Worst
  /** Changes when the values are of another kind. */
  values: string
}

/**
 * Return the part in the chosen order. An order by values is that of the values when it was chosen: rows must not move with
 * each window. `again` orders by the present values.
 */
export function useOrder({ order, part, cells, worst, values }: Options) {
  const [held, setHeld] = useState<Held | null>(null)
  const [turn, setTurn] = useState(0)
  const lines = useMemo(() => (part ? `${part.key} ${linesKey(part)}` : ''), [part])
  const isByValue = order === 'worst' || order === 'cluster'
  const key = `${lines} ${values} ${order} ${turn}`
  const isOrdering = isByValue && held?.key !== key
  const grid = useMemo(() => (isOrdering ? cells() : undefined), [isOrdering, cells])

  // Before the browser paints: the order of zones must not show for a moment.
  useLayoutEffect(() => {
    if (!grid || !part || order !== 'worst') return
    setHeld({ key, lines, ...byWorst(grid, worst, part.rows === part.columns) })
  }, [grid, part, order, worst, key, lines])

  useEffect(() => {
    if (!grid || !part || order !== 'cluster') return
    return orderAside(grid, worst, part.rows === part.columns, (ordering) => setHeld({ key, lines, ...ordering }))
  }, [grid, part, order, worst, key, lines])

  const arranged = useMemo(() => {
    if (!part || order === 'zone') return part
    if (order === 'name') return reordered(part, byName(part.rows), byName(part.columns))
    return held?.lines === lines ? reordered(part, held.rows, held.columns) : part
  }, [part, order, held, lines])
  return {
    part: arranged,
    isOrdering: isOrdering && part !== undefined,
    again: isByValue ? () => setTurn(turn + 1) : undefined,
  }
}

const linesKey = ({ rows, columns }: Part) => [rows, columns].map((side) => side.map(({ id }) => id).join()).join('/')
