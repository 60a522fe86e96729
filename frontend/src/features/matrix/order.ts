/** Orders of the rows and columns of a heatmap. */

import type { Line } from './axes'

export const ORDERS = ['zone', 'name', 'worst', 'cluster'] as const
export type Order = (typeof ORDERS)[number]

const collator = new Intl.Collator('en', { numeric: true })

/** Return the indices of lines by name: web-2 before web-10. */
export const byName = (lines: readonly Line[]): number[] =>
  lines.map((_, at) => at).sort((a, b) => collator.compare((lines[a] as Line).name, (lines[b] as Line).name) || a - b)
