import { expect, test } from 'vitest'
import { contrast, diverging, QUIET, type Theme } from '~/charts/heatmap/palette'
import { ramp } from './metrics'

test.each<Theme>(['light', 'dark'])(
  'in the theme %s a usual value is quiet, and the smallest unusual one is not',
  (theme) => {
    const colours = ramp('deviation', theme)
    expect(colours(0.5)).toEqual(QUIET[theme])
    for (const at of [0.5 - 1 / 256, 0.5 + 1 / 256]) expect(contrast(colours(at), QUIET[theme])).toBeGreaterThan(1.1)
    for (const at of [0, 1]) expect(colours(at)).toEqual(diverging(theme)(at))
  },
)
