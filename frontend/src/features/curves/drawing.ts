/** How curves of the API become lines of a chart. */

import type { CurvePoints } from '~/api/types'
import type { Line } from '~/charts/curve/CurveChart'
import type { Band } from '~/charts/curve/geometry'

const DASHES = [undefined, '7 4', '2 3', '9 3 2 3', '12 4', '4 2']

export const ownColour = (origin: 'own' | 'published') => (origin === 'own' ? 'var(--line-1)' : 'var(--line-6)')

/** The n-th line of a comparison: its colour and its dashes. */
export const lineStyle = (n: number) => ({
  colour: `var(--line-${(n % DASHES.length) + 1})`,
  ...(DASHES[n % DASHES.length] ? { dash: DASHES[n % DASHES.length] as string } : {}),
})

export function bandOf({ added_us, low, high }: CurvePoints): Band | null {
  return low && high ? { x: added_us, low, high } : null
}

export function lineOf(key: string, points: CurvePoints, style: { colour: string; dash?: string }): Line {
  return { key, ...style, x: points.added_us, y: points.performance, band: bandOf(points) }
}
