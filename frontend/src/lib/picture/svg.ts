/** Elements of SVG, and copies of drawn ones that do not need the page. */

import { plainColour } from './colour'

const NAMESPACE = 'http://www.w3.org/2000/svg'

/** Return an SVG element. Undefined attributes are left out; text is a child like any other. */
export function svg(
  name: string,
  attributes: Record<string, string | number | undefined> = {},
  ...children: (SVGElement | string)[]
): SVGElement {
  const element = document.createElementNS(NAMESPACE, name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, typeof value === 'number' ? String(round(value)) : value)
  }
  element.append(...children)
  return element
}

/** Round to a hundredth of a pixel. */
const round = (value: number) => Math.round(value * 100) / 100

/** Properties that style sheets give to drawn elements, and the values that need not be written. */
const PROPERTIES: Record<string, readonly string[]> = {
  fill: [],
  stroke: ['none'],
  'stroke-width': ['1px', '1'],
  'stroke-dasharray': ['none'],
  'stroke-linejoin': ['miter'],
  opacity: ['1'],
  'paint-order': ['normal'],
  'font-size': [],
  'font-weight': ['400', 'normal'],
  'text-anchor': ['start'],
  'dominant-baseline': ['auto'],
  'writing-mode': ['horizontal-tb'],
  'pointer-events': ['auto'],
}
const TEXT_ONLY = new Set(['font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'writing-mode'])
const PAINTS = new Set(['fill', 'stroke'])

/** Return a copy of a drawn SVG element with its styles written into it, and links replaced by what they contain. */
export function inlined(drawn: Element): SVGElement {
  const copy = svg(drawn.localName === 'a' ? 'g' : drawn.localName)
  for (const { name, value } of drawn.attributes) {
    if (!/^(class|style|href|role|tabindex|aria-.*|data-.*|on.*)$/.test(name) && !value.includes('var(')) {
      copy.setAttribute(name, value)
    }
  }
  if (drawn.localName !== 'title' && drawn.localName !== 'defs') writeStyles(drawn, copy)
  for (const child of drawn.childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) copy.append(inlined(child as Element))
    else if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent ?? '')
  }
  return copy
}

function writeStyles(drawn: Element, copy: Element) {
  const computed = getComputedStyle(drawn)
  const isText = drawn.localName === 'text' || drawn.localName === 'tspan'
  for (const [name, defaults] of Object.entries(PROPERTIES)) {
    const value = computed.getPropertyValue(name)
    if (!value || (TEXT_ONLY.has(name) && !isText)) continue
    if (defaults.includes(value)) copy.removeAttribute(name)
    else if (PAINTS.has(name)) copy.setAttribute(name, plainColour(value.replaceAll('"', '')))
    else if (name !== 'pointer-events') copy.setAttribute(name, value)
  }
}
