/** The legend of a picture of the heatmap: what the legend of the page shows, without the page. */

import { matrixRange, type Shown } from '~/api/measurements'
import { countLooks, type Grid, isColoured } from '~/charts/heatmap/grid'
import { HATCHES, type Hatch } from '~/charts/heatmap/hatch'
import { dimmed, lineRamp, QUIET, type Rgb, type Theme } from '~/charts/heatmap/palette'
import { hatchPattern } from '~/charts/heatmap/picture'
import { type Domain, position, ticks } from '~/charts/heatmap/scale'
import type { Coding } from '~/lib/codes'
import { facts, tickLabels } from '~/lib/metrics'
import type { Drawing, Key } from '~/lib/picture/drawing'
import { type Clock, formatMoment, formatRange } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { ramp } from './metrics'
import { STATE_FACTS } from './states'
import { strings } from './strings'
import { matrixTitle } from './useMatrix'

interface Parts {
  shown: Shown
  coding: Coding
  grid: Grid
  domain: Domain
  theme: Theme
  windowEnd: Date | null
  clock: Clock
  /** Arrows of moves are drawn. */
  hasMoves?: boolean
}

const STEPS = 24

/** Return the scale, the looks that occur, and the time of a heatmap. */
export function pictureLegend(parts: Parts): Pick<Drawing, 'keys' | 'scale' | 'range'> {
  const { shown, coding, domain, theme } = parts
  const colours = ramp(coding, theme)
  const { scale } = facts(coding)
  const values = ticks(scale, domain, 7)
  const { unit, labels } = tickLabels(coding, values)
  return {
    scale: {
      title: `${matrixTitle(shown)}, ${unit}`,
      colours: Array.from({ length: STEPS + 1 }, (_, step) => css(colours(step / STEPS))),
      ticks: values.map((value, i) => ({ at: position(scale, domain, value), label: labels[i] as string })),
    },
    keys: keysOf(parts),
    ...rangeOf(parts),
  }
}

const css = ([red, green, blue]: Rgb) => `rgb(${red}, ${green}, ${blue})`

function keysOf({ coding, grid, theme, hasMoves }: Parts): Key[] {
  const counts = countLooks(grid)
  const colours = ramp(coding, theme)
  const hatched = HATCHES.filter((hatch) => counts[hatch] > 0).map(
    (hatch): Key => ({
      label: `${STATE_FACTS[hatch].name}: ${formatCount(counts[hatch])}`,
      colour: 'none',
      image: swatch(hatch, theme, colours(0.5)),
    }),
  )
  const area = (label: string, colour: Rgb): Key => ({ label, colour: css(colour), isArea: true })
  return [
    ...hatched,
    ...(counts.faint > 0 ? [area(strings.withinClockError, dimmed(colours(0.7), theme))] : []),
    ...(coding === 'deviation' ? [area(strings.usual, QUIET[theme])] : []),
    ...(coding === 'loss' ? [area(strings.noLoss, QUIET[theme])] : []),
    ...(hasMoves
      ? [0, 1].map((share) => ({ label: strings.moveLoses(100 * share), colour: css(lineRamp(theme)(share)) }))
      : []),
  ]
}

/** Draw a sample of a hatch as the address of an image, at two pixels per CSS pixel. */
function swatch(hatch: Hatch, theme: Theme, under: Rgb): string | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = 44
  canvas.height = 28
  const context = canvas.getContext('2d')
  if (!context) return undefined
  if (isColoured(hatch)) {
    context.fillStyle = css(under)
    context.fillRect(0, 0, canvas.width, canvas.height)
  }
  context.fillStyle = hatchPattern(context, hatch, 2, theme) ?? 'transparent'
  context.fillRect(0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/png')
}

function rangeOf({ shown: { when }, windowEnd, clock }: Parts): Pick<Drawing, 'range'> {
  if (when) {
    const [from, to] = [matrixRange(when).from, matrixRange(when).to].map((at) => new Date(at)) as [Date, Date]
    return { range: formatRange(from, to, clock) }
  }
  return windowEnd ? { range: strings.newestWindowEnds(formatMoment(windowEnd, clock)) } : {}
}
