/** The colour ramp of each metric, and its worst code. */

import type { Worst } from '~/charts/heatmap/grid'
import { diverging, QUIET, type Ramp, sequential, type Theme } from '~/charts/heatmap/palette'
import { ASYMMETRY_ZERO, type Coding, isSigned } from '~/lib/codes'

// An unusual value must differ from a usual one, however small it is on the scale.
const LEAST = 0.25

/** Return the diverging ramp with the quiet colour in its middle, and a step on both sides of it. */
function stepped(theme: Theme): Ramp {
  const colours = diverging(theme)
  return (t) => {
    const far = 2 * t - 1
    return far === 0 ? QUIET[theme] : colours(0.5 + (Math.sign(far) * (LEAST + (1 - LEAST) * Math.abs(far))) / 2)
  }
}

export function ramp(metric: Coding, theme: Theme): Ramp {
  if (metric === 'deviation') return stepped(theme)
  return isSigned(metric) ? diverging(theme) : sequential(theme)
}

const HIGHEST: Worst = { kind: 'highest' }
const FURTHEST: Worst = { kind: 'furthest', middle: ASYMMETRY_ZERO }

export const worst = (metric: Coding): Worst => (isSigned(metric) ? FURTHEST : HIGHEST)
