/** Shaded times and horizontal lines of a line chart, drawn around its series. */

import type uPlot from 'uplot'

/** A time to shade, seconds since 1970. */
export interface Span {
  from: number
  to: number
  /** The name of the shade in the legend of a picture. */
  label?: string
  /** A CSS colour, custom properties included. */
  colour: string
}

/** A horizontal line over the whole chart, dashed. */
export interface Limit {
  label: string
  value: number
  /** A CSS colour, custom properties included. */
  colour: string
}

interface Shown {
  spans?: readonly Span[] | undefined
  limits?: readonly Limit[] | undefined
}

/** Least extent relative to the values: less is not distinguished by sketches, and its labels are long. */
const LEAST_SHARE = 0.01

/** Return the extent of values that also shows the limits, with a margin. */
export function withLimits(
  limits: readonly Limit[] | undefined,
  least: number | null,
  most: number | null,
): [number, number] {
  const values = [...(limits ?? []).map(({ value }) => value), least, most].filter((value) => value !== null)
  if (values.length === 0) return [0, 1]
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const span = Math.max(high - low, Math.max(Math.abs(low), Math.abs(high)) * LEAST_SHARE) || 1
  const [middle, half] = [(low + high) / 2, span * 0.6]
  return [low >= 0 ? Math.max(0, middle - half) : middle - half, middle + half]
}

/** Return the part of a span within a range; null where they do not overlap. */
export function clipped({ from, to }: Pick<Span, 'from' | 'to'>, [start, end]: [number, number]) {
  const [first, last] = [Math.max(from, start), Math.min(to, end)]
  return first < last ? ([first, last] as const) : null
}

/** Return a plugin that shades spans behind the series and draws limits above them. */
export function spansPlugin(current: () => Shown, colourOf: (colour: string, alpha?: number) => string): uPlot.Plugin {
  return {
    hooks: {
      drawClear: (u) => {
        const { min, max } = u.scales.x ?? {}
        if (min == null || max == null) return
        const { top, height } = u.bbox
        for (const span of current().spans ?? []) {
          const part = clipped(span, [min, max])
          if (!part) continue
          const [left, right] = part.map((at) => u.valToPos(at, 'x', true)) as [number, number]
          u.ctx.fillStyle = colourOf(span.colour, 0.12)
          u.ctx.fillRect(left, top, right - left, height)
        }
      },
      draw: (u) => {
        const { left, width } = u.bbox
        u.ctx.save()
        u.ctx.lineWidth = devicePixelRatio
        u.ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
        for (const { value, colour } of current().limits ?? []) {
          const y = u.valToPos(value, 'y', true)
          u.ctx.strokeStyle = colourOf(colour)
          u.ctx.beginPath()
          u.ctx.moveTo(left, y)
          u.ctx.lineTo(left + width, y)
          u.ctx.stroke()
        }
        u.ctx.restore()
      },
    },
  }
}
