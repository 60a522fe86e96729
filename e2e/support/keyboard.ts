/** What a person meets who has no pointer: where Tab leads, and whether the focus can be seen. */

import type { Page } from '@playwright/test'

export interface Stop {
  /** Tag, role and name, for messages. */
  what: string
  /** The focused element looks as it does without the focus. */
  isInvisible: boolean
  /** Something covers the element, or it is outside of the window. */
  isHidden: boolean
}

/** Where Tab led: to another element, to one that had the focus, or to where the walk ends. */
type Place = 'next' | 'same' | 'end'

interface Walk {
  stops: Stop[]
  /** Elements that take the keyboard's focus by their kind, and that Tab did not reach. */
  unreached: string[]
}

/** Pages with longer lists are walked up to here. */
const MOST = 250

/** Mark the elements that Tab has to reach: one of each set of radio buttons, none in what is closed or hidden. */
function markExpected() {
  const KINDS = 'a[href], button, input, select, textarea, summary, iframe, [tabindex]'
  const seen = new Set<string>()
  for (const element of document.querySelectorAll<HTMLElement>(KINDS)) {
    const isShown = element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })
    const field = element as HTMLInputElement
    if (!isShown || element.tabIndex < 0 || field.disabled || element.closest('[inert]')) continue
    if (field.type === 'radio') {
      const group = `${field.form?.id} ${field.name}`
      if (seen.has(group) || (document.querySelector(`input[name="${field.name}"]:checked`) && !field.checked)) continue
      seen.add(group)
    }
    element.dataset.expected = ''
  }
  // A page may have given the focus to a field: begin before the first element.
  const start = document.createElement('span')
  start.tabIndex = -1
  document.body.prepend(start)
  start.focus()
}

/** Describe the focused element, and forget that it is expected. */
async function describeFocused(): Promise<Stop & { place: Place }> {
  const element = document.activeElement as HTMLElement | null
  if (!element || element === document.body) {
    return { what: 'body', place: 'end', isInvisible: false, isHidden: false }
  }
  const name = element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 40) ?? ''
  const what = `${element.localName} ${element.getAttribute('role') ?? ''} "${name}"`
  // The parts of a date are stops inside of its field.
  const place = { first: 'end', other: 'same' }[element.dataset.visited ?? ''] ?? 'next'
  delete element.dataset.expected
  element.dataset.visited ??= document.querySelector('[data-visited]') ? 'other' : 'first'
  // Another look would begin with the first part again.
  if (place !== 'next') return { what, place: place as Place, isInvisible: false, isHidden: false }
  // A box that is drawn by its label, or by an element around it, shows the focus there.
  const drawn = [element, element.parentElement, element.parentElement?.parentElement, element.nextElementSibling]
  const look = () =>
    drawn
      .filter((one): one is HTMLElement => one instanceof Element)
      .map((one) => {
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor } =
          getComputedStyle(one)
        return [outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor].join()
      })
      .join('; ')
  const focused = look()
  // A field that its label draws is behind it.
  const label = element.closest('label') ?? (element as HTMLInputElement).labels?.[0]
  const isSeen = () => {
    const box = element.getBoundingClientRect()
    const points = [
      [box.left + box.width / 2, box.top + Math.min(box.height, 24) / 2],
      [box.left + Math.min(box.width, 12) / 2, box.top + Math.min(box.height, 12) / 2],
      [box.right - 4, box.bottom - 4],
    ]
    return points.some(([x = 0, y = 0]) => {
      const top = document.elementFromPoint(x, y)
      return top !== null && (element.contains(top) || top.contains(element) || label?.contains(top))
    })
  }
  // What comes and goes with the focus, such as the link to the content, needs some frames.
  for (let frame = 0; frame < 30 && !isSeen(); frame++) await new Promise((done) => requestAnimationFrame(done))
  const isHidden = !isSeen()
  const scroll = [window.scrollX, window.scrollY] as const
  element.blur()
  const isInvisible = look() === focused
  element.focus({ preventScroll: true })
  window.scrollTo(...scroll)
  return { what, place, isInvisible, isHidden }
}

/** Walk through the page by Tab until it leaves the page or returns to where it began. */
export async function walk(page: Page): Promise<Walk> {
  await page.evaluate(markExpected)
  const stops: Stop[] = []
  for (let step = 0; step < MOST; step++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(describeFocused)
    if (stop.place === 'end') break
    if (stop.place === 'next') stops.push(stop)
  }
  const unreached =
    stops.length === MOST
      ? []
      : await page.evaluate(() =>
          [...document.querySelectorAll<HTMLElement>('[data-expected]')].map(
            (element) => `${element.localName} "${element.getAttribute('aria-label') ?? element.textContent?.trim()}"`,
          ),
        )
  return { stops, unreached }
}
