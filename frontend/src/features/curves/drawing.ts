/** Lines of a chart from curves of the API. */

import type { CurvePoints } from '~/api/types'
import type { Line } from '~/charts/curve/CurveChart'
import type { Band } from '~/charts/curve/geometry'

export const ownColour = (origin: 'own' | 'published') => (origin === 'own' ? 'var(--line-1)' : 'var(--line-6)')

export function bandOf({ added_us, low, high }: CurvePoints): Band {
  return { x: added_us, low, high }
}

/** Points of both tables in their order: the steps of an outline stay upright in an even table. */
export function joined(first: CurvePoints, second: CurvePoints): CurvePoints {
  const from = [first, second].flatMap((table) => table.added_us.map((at, i) => ({ at, table, i })))
  from.sort((a, b) => a.at - b.at)
  const column = (of: (table: CurvePoints) => number[] | null) =>
    from.map(({ table, i }) => of(table)?.[i] ?? Number.NaN)
  return {
    added_us: from.map(({ at }) => at),
    performance: column((table) => table.performance),
    low: column((table) => table.low),
    high: column((table) => table.high),
  }
}

export function lineOf(key: string, points: CurvePoints, style: { colour: string; dash?: string }): Line {
  return { key, ...style, x: points.added_us, y: points.performance, band: bandOf(points) }
}
