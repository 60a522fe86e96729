/** The colour ramp of each metric, and its worst code. */

import type { Worst } from '~/charts/heatmap/grid'
import { changed, diverging, type Ramp, sequential, type Theme } from '~/charts/heatmap/palette'
import { ASYMMETRY_ZERO, type Coding, isSigned } from '~/lib/codes'

export function ramp(metric: Coding, theme: Theme): Ramp {
  if (metric === 'deviation') return changed(theme)
  return isSigned(metric) ? diverging(theme) : sequential(theme)
}

const HIGHEST: Worst = { kind: 'highest' }
const FURTHEST: Worst = { kind: 'furthest', middle: ASYMMETRY_ZERO }

export const worst = (metric: Coding): Worst => (isSigned(metric) ? FURTHEST : HIGHEST)
