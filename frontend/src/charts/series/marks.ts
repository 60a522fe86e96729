/** Marks of events and spans on the time axis of a line chart, as a plugin of uPlot. */

import type uPlot from 'uplot'
import styles from './series.module.css'

/** An event, or a span when it has an end. Times are seconds since 1970. */
export interface Mark {
  id: string
  label: string
  from: number
  to: number | null
}

export interface PlacedMark {
  mark: Mark
  /** Pixels from the start of the axis; equal for an event. */
  left: number
  right: number
  /** Pixels between the line and the next one, for a label. */
  room: number
}

/** Return the marks in a range by place, cut to an axis of `width` pixels. */
export function placeMarks(marks: readonly Mark[], [start, end]: [number, number], width: number): PlacedMark[] {
  const at = (time: number) => ((Math.min(Math.max(time, start), end) - start) / (end - start)) * width
  const placed = marks
    .filter(({ from, to }) => from < end && (to ?? from) >= start)
    .map((mark) => ({ mark, left: at(mark.from), right: at(mark.to ?? mark.from), room: 0 }))
    .sort((one, other) => one.left - other.left)
  return placed.map((one, index) => ({ ...one, room: (placed[index + 1]?.left ?? width) - one.left }))
}

/** Return the mark whose line is within `reach` pixels of a place, else the shortest span around it. */
export function markAt(placed: readonly PlacedMark[], x: number, reach: number): Mark | null {
  const distance = ({ left }: PlacedMark) => Math.abs(left - x)
  const near = placed.filter((one) => distance(one) <= reach).sort((one, other) => distance(one) - distance(other))
  const around = placed
    .filter(({ left, right }) => left <= x && x <= right)
    .sort((one, other) => one.right - one.left - (other.right - other.left))
  return (near[0] ?? around[0])?.mark ?? null
}

/** Shorten a label to a width; empty if not even two letters of it fit. */
export function fitted(label: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(label) <= room) return label
  for (let length = label.length - 1; length >= 2; length--) {
    const text = `${label.slice(0, length).trimEnd()}…`
    if (widthOf(text) <= room) return text
  }
  return ''
}

interface Inks {
  line: string
  shade: string
  text: string
  page: string
}

const REACH = 6
const LABEL = { font: 10.5, gap: 4, top: 3 }

/** Return the width of the axis in CSS pixels. A chart is first drawn before its elements have their size. */
const widthOf = ({ bbox }: uPlot) => bbox.width / devicePixelRatio

/** Draw a line at the start of each mark, its label at the top and a light shade over a span; hovering shows the label. */
export function marksPlugin(current: () => readonly Mark[], inks: Inks): uPlot.Plugin {
  const tip = document.createElement('div')
  tip.className = styles.mark ?? ''
  tip.hidden = true
  const placedIn = (plot: uPlot) => {
    const { min, max } = plot.scales.x ?? {}
    const known = min != null && max != null && max > min
    return known ? placeMarks(current(), [min, max], widthOf(plot)) : []
  }
  return {
    hooks: {
      init: [(plot) => plot.over.append(tip)],
      // Below the lines of the data.
      drawAxes: [
        (plot) => {
          const { ctx, bbox } = plot
          const density = devicePixelRatio
          ctx.save()
          for (const { left, right } of placedIn(plot)) {
            ctx.fillStyle = inks.shade
            if (right > left) ctx.fillRect(bbox.left + left * density, bbox.top, (right - left) * density, bbox.height)
            ctx.fillStyle = inks.line
            ctx.fillRect(Math.round(bbox.left + left * density), bbox.top, Math.max(1, density), bbox.height)
          }
          ctx.restore()
        },
      ],
      draw: [
        (plot) => {
          const { ctx, bbox } = plot
          const density = devicePixelRatio
          ctx.save()
          ctx.font = `500 ${LABEL.font * density}px "Inter Variable", system-ui, sans-serif`
          ctx.textBaseline = 'top'
          ctx.textAlign = 'left'
          ctx.lineWidth = 3 * density
          for (const { mark, left, room } of placedIn(plot)) {
            const text = fitted(mark.label, (room - 2 * LABEL.gap) * density, (part) => ctx.measureText(part).width)
            const [x, y] = [bbox.left + (left + LABEL.gap) * density, bbox.top + LABEL.top * density]
            // Lines of the data may cross the label: give it an edge in the colour of the page.
            ctx.strokeStyle = inks.page
            ctx.strokeText(text, x, y)
            ctx.fillStyle = inks.text
            ctx.fillText(text, x, y)
          }
          ctx.restore()
        },
      ],
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor
          // Charts share a cursor: only the one under the pointer shows the text.
          const mark = left >= 0 && plot.over.matches(':hover') ? markAt(placedIn(plot), left, REACH) : null
          tip.hidden = mark === null
          if (mark === null) return
          tip.textContent = mark.label
          const isRight = left > widthOf(plot) / 2
          tip.style.left = isRight ? '' : `${left + 10}px`
          tip.style.right = isRight ? `${widthOf(plot) - left + 10}px` : ''
        },
      ],
    },
  }
}
