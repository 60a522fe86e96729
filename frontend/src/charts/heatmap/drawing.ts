/** The heatmap as SVG: its cells as an image, what is drawn over them, its headings and labels as text. */

import { plainColour } from '~/lib/picture/colour'
import type { Drawing } from '~/lib/picture/drawing'
import { inlined, svg } from '~/lib/picture/svg'

/** Draws the cells on a canvas with `density` pixels per CSS pixel. */
export type Paint = (canvas: HTMLCanvasElement, density: number) => void

/** Pixels per CSS pixel: the figures in the cells must be sharp on other screens too. */
const DENSITY_MIN = 2

/** Return the drawing of a plot: the cells of its canvas, and the buttons around it that are its headings and labels. */
export function heatmapDrawing(plot: HTMLElement, canvas: HTMLCanvasElement, paint: Paint, corner: string[]): Drawing {
  const { width, height } = plot.getBoundingClientRect()
  const zoom = width / plot.offsetWidth || 1
  const at = (element: Element) => {
    const [box, origin] = [element.getBoundingClientRect(), plot.getBoundingClientRect()]
    const [x, y] = [(box.left - origin.left) / zoom, (box.top - origin.top) / zoom]
    return { x, y, width: box.width / zoom, height: box.height / zoom }
  }
  const cells = at(canvas)
  const density = Math.max(DENSITY_MIN, window.devicePixelRatio || 1)
  const pixels = document.createElement('canvas')
  pixels.width = Math.round(cells.width * density)
  pixels.height = Math.round(cells.height * density)
  paint(pixels, density)
  const style = getComputedStyle(plot)
  return {
    width: width / zoom,
    height: height / zoom,
    body: [
      svg('image', { ...cells, href: pixels.toDataURL('image/png'), preserveAspectRatio: 'none' }),
      ...[...plot.querySelectorAll('[data-overlay]')].map((overlay) => placed(inlined(overlay), cells)),
      ...corner.map((text, line) =>
        svg(
          'text',
          { x: cells.x - 10, y: 12 + line * 14, 'font-size': 11, 'text-anchor': 'end', fill: plainColour(style.color) },
          text,
        ),
      ),
      ...[...plot.querySelectorAll('button')].flatMap((button) => named(button, at(button))),
    ],
  }
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Return a separate drawing in its place among the others. */
function placed(drawn: SVGElement, { x, y }: Box): SVGElement {
  drawn.setAttribute('x', String(x))
  drawn.setAttribute('y', String(y))
  return drawn
}

/** Return a heading with its ground, or a label; upright where its text is. */
function named(button: HTMLElement, box: Box): SVGElement[] {
  const short = button.querySelector<HTMLElement>('[data-text]')
  const text = short?.dataset.text ?? button.textContent ?? ''
  const style = getComputedStyle(button)
  const isUpright = getComputedStyle(short ?? button).writingMode.startsWith('vertical')
  const isCentred = style.justifyContent === 'center' || style.textAlign === 'center'
  const ground = plainColour(style.backgroundColor)
  const anchor = isCentred ? 'middle' : style.textAlign === 'right' ? 'end' : 'start'
  const along = { start: 0, middle: 0.5, end: 1 }[anchor]
  const place = isUpright
    ? {
        'text-anchor': anchor,
        transform: `translate(${box.x + box.width / 2 + 4} ${box.y + (1 - along) * box.height}) rotate(-90)`,
      }
    : { 'text-anchor': anchor, x: box.x + along * box.width, y: box.y + box.height / 2 + 4 }
  return [
    ...(short || !/^rgba\(.*, 0\)$|^transparent$/.test(ground) ? [svg('rect', { ...box, rx: 2, fill: ground })] : []),
    ...(text ? [svg('text', { ...place, 'font-size': style.fontSize, fill: plainColour(style.color) }, text)] : []),
  ]
}
