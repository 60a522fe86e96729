import { type RefCallback, useCallback, useEffect, useRef } from 'react'
import { resolveColour } from '~/lib/picture/colour'
import { type Drawing, offerDrawing } from '~/lib/picture/drawing'
import { inlined } from '~/lib/picture/svg'

interface Shown {
  lines?: readonly { label?: string; colour: string; dash?: string; x: readonly number[]; y: readonly number[] }[]
  xLabel?: string
}

/** Return the chart of an element that is, or contains, one SVG element; its lines also as a table. */
function drawingOf(element: Element, { lines = [], xLabel = 'x' }: Shown): Drawing {
  const drawn = element instanceof SVGSVGElement ? element : element.querySelector('svg')
  const named = lines.flatMap((line) => (line.label === undefined ? [] : [{ ...line, label: line.label }]))
  if (!drawn) return { width: 0, height: 0, body: [] }
  const [width, height] = ['width', 'height'].map((name) => Number(drawn.getAttribute(name))) as [number, number]
  const body = inlined(drawn)
  body.setAttribute('width', String(width))
  body.setAttribute('height', String(height))
  return {
    width,
    height,
    body: [body],
    keys: named.map(({ label, colour, dash }) => ({ label, colour: resolveColour(element, colour), dash })),
    ...(named.length > 0 && {
      table: {
        columns: ['line', xLabel, 'value'],
        rows: named.flatMap(({ label, x, y }) => x.map((at, i) => [label, at, y[i] ?? null])),
      },
    }),
  }
}

/** Return a ref of an element that offers the SVG element inside it, or itself, as a picture. */
export function useDrawnSvg(shown: Shown = {}): RefCallback<Element> {
  const latest = useRef(shown)
  useEffect(() => {
    latest.current = shown
  })
  return useCallback(
    (element: Element | null) =>
      element ? offerDrawing(element, () => drawingOf(element, latest.current)) : undefined,
    [],
  )
}
