/** A picture that explains itself: title, time, legend and chart in one SVG document. */

import { formatMoment } from '~/lib/time'
import { resolveColour } from './colour'
import type { Drawing, Key, Scale } from './drawing'
import { svg } from './svg'

export interface Caption {
  title: string
  /** Lines below the title: the subject, the range of time, the unit. */
  about: string[]
  /** The moment of the export. */
  at: Date
}

/** Colours of the text and the page, resolved. */
export interface Inks {
  page: string
  ink: string
  quiet: string
  line: string
}

/** Fonts that most machines have follow the product's. */
export const FONTS =
  "'Inter Variable', Inter, system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

const EDGE = 20
const LINE = 18
const KEY = { line: 22, gap: 7, between: 20 }
const NARROWEST = 360
const SCALE = { height: 12, most: 420 }

/** Return the colours of text and page as they are at an element. */
export const inksAt = (element: Element): Inks => ({
  page: resolveColour(element, 'var(--page)'),
  ink: resolveColour(element, 'var(--ink)'),
  quiet: resolveColour(element, 'var(--ink-2)'),
  line: resolveColour(element, 'var(--line-strong)'),
})

/** Estimate the width of a text: fonts differ from machine to machine. */
const widthOf = (text: string, size: number) => text.length * size * 0.58

const textAt = (x: number, y: number, size: number, fill: string, text: string, weight?: number) =>
  svg('text', { x, y, 'font-size': size, fill, 'font-weight': weight }, text)

/** Return a picture as the text of an SVG document, and its size in CSS pixels. */
export function compose(drawing: Drawing, caption: Caption, inks: Inks) {
  const inner = Math.max(drawing.width, NARROWEST)
  const parts: SVGElement[] = []
  let y = EDGE
  const add = (height: number, element: (top: number) => SVGElement[]) => {
    parts.push(...element(y))
    y += height
  }
  for (const line of wrapped(caption.title, inner, 16)) {
    add(LINE + 4, (top) => [textAt(EDGE, top + 15, 16, inks.ink, line, 620)])
  }
  for (const line of caption.about.flatMap((about) => wrapped(about, inner, 12))) {
    add(LINE, (top) => [textAt(EDGE, top + 12, 12, inks.quiet, line)])
  }
  for (const row of rowsOf(drawing.keys ?? [], inner)) {
    add(LINE + 2, (top) => row.flatMap(({ key, x }) => keyAt(key, EDGE + x, top + 10, inks)))
  }
  if (drawing.scale) {
    const { scale } = drawing
    y += 4
    add(SCALE.height + 2 * LINE, (top) => scaleAt(scale, top, Math.min(inner, SCALE.most), inks))
  }
  y += 8
  add(drawing.height + 6, (top) => [svg('g', { transform: `translate(${EDGE} ${top})` }, ...drawing.body)])
  add(LINE, (top) => [textAt(EDGE, top + 12, 11, inks.quiet, `Sinemora, exported ${formatMoment(caption.at, 'utc')}`)])
  const [width, height] = [Math.ceil(inner + 2 * EDGE), Math.ceil(y + EDGE / 2)]
  const root = svg(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': FONTS },
    svg('title', {}, [caption.title, ...caption.about].join(', ')),
    svg('rect', { width, height, fill: inks.page }),
    ...parts,
  )
  // The serialiser writes the namespace itself.
  root.removeAttribute('xmlns')
  return { text: new XMLSerializer().serializeToString(root), width, height }
}

/** Break a text into lines at spaces. */
function wrapped(text: string, width: number, size: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(`${last} ${word}`, size) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.filter(Boolean)
}

/** Place the entries of a legend in rows. */
function rowsOf(keys: readonly Key[], width: number): { key: Key; x: number }[][] {
  const rows: { key: Key; x: number }[][] = []
  let x = 0
  for (const key of keys) {
    const needed = KEY.line + KEY.gap + widthOf(key.label, 12) + KEY.between
    if (rows.length === 0 || x + needed > width) {
      rows.push([])
      x = 0
    }
    rows.at(-1)?.push({ key, x })
    x += needed
  }
  return rows
}

function keyAt({ label, colour, dash, image, isArea, opacity }: Key, x: number, y: number, inks: Inks): SVGElement[] {
  const box = { x, y: y - 7, width: KEY.line, height: 14 }
  const sample = image
    ? [svg('image', { ...box, href: image }), svg('rect', { ...box, fill: 'none', stroke: inks.line })]
    : isArea
      ? [svg('rect', { ...box, fill: colour, 'fill-opacity': opacity, stroke: inks.line })]
      : [
          svg('line', {
            ...{ x1: x, x2: x + KEY.line, y1: y, y2: y },
            ...{ stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash },
          }),
        ]
  return [...sample, textAt(x + KEY.line + KEY.gap, y + 4, 12, inks.ink, label)]
}

function scaleAt({ title, colours, ticks }: Scale, top: number, width: number, inks: Inks): SVGElement[] {
  const last = Math.max(1, colours.length - 1)
  return [
    svg(
      'defs',
      {},
      svg(
        'linearGradient',
        { id: 'scale' },
        ...colours.map((colour, i) => svg('stop', { offset: i / last, 'stop-color': colour })),
      ),
    ),
    textAt(EDGE, top + 12, 12, inks.ink, title, 560),
    svg('rect', { x: EDGE, y: top + LINE, width, height: SCALE.height, fill: 'url(#scale)' }),
    ...ticks.map(({ at, label }) => {
      const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle'
      const place = { x: EDGE + at * width, y: top + LINE + SCALE.height + 13, 'text-anchor': anchor }
      return svg('text', { ...place, 'font-size': 11, fill: inks.quiet }, label)
    }),
  ]
}
