/** Drawings of charts, as their elements offer them for export. */

/** An entry of a legend. */
export interface Key {
  label: string
  /** A colour without custom properties. */
  colour: string
  /** `stroke-dasharray` of a line. */
  dash?: string | undefined
  /** A sample, as the address of an image, in place of a line. */
  image?: string | undefined
  /** A filled sample in place of a line. */
  isArea?: boolean | undefined
  /** Of a filled sample; 1 when absent. */
  opacity?: number | undefined
}

/** A colour scale with the places of its labels, 0 to 1. */
export interface Scale {
  title: string
  colours: string[]
  ticks: { at: number; label: string }[]
}

/** Values of a chart as a table. */
export interface Table {
  columns: string[]
  rows: (string | number | null)[][]
}

/** A chart as SVG: everything in it is resolved, so that it needs neither the page nor its styles. */
export interface Drawing {
  /** In CSS pixels. */
  width: number
  height: number
  body: SVGElement[]
  keys?: Key[]
  scale?: Scale
  /** The shown range of time, in words. */
  range?: string
  table?: Table
}

type Draw = () => Drawing

const drawings = new WeakMap<Element, Draw>()
const MARK = 'data-drawing'

/** Offer the drawing of an element until the returned function is called. */
export function offerDrawing(element: Element, draw: Draw): () => void {
  drawings.set(element, draw)
  element.setAttribute(MARK, '')
  return () => {
    drawings.delete(element)
    element.removeAttribute(MARK)
  }
}

/** Return the first drawing that is offered inside an element; undefined while its chart is not drawn. */
export function drawingIn(root: Element): Drawing | undefined {
  for (const element of root.querySelectorAll(`[${MARK}]`)) {
    const draw = drawings.get(element)
    if (draw) return draw()
  }
  return undefined
}
