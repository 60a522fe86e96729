/** What a person meets who has no pointer: where Tab leads, and whether the focus can be seen. */

import { expect, type Page } from '@playwright/test'

interface Stop {
  /** Tag, role and name, for messages. */
  what: string
  /** The focused element looks as it does without the focus. */
  isInvisible: boolean
  /** Something covers the element, or it is outside of the window. */
  isHidden: boolean
}

/** Result of Tab: the focus went to another element, to one that had the focus, or out of what is walked. */
type Place = 'next' | 'same' | 'end'

interface Walk {
  stops: Stop[]
  /** Elements that take the keyboard's focus by their kind, and that Tab did not reach. */
  unreached: string[]
}

/** Elements that open over a page. */
const OVER = '[role="dialog"], [role="menu"]'

/** Buttons that may open something: none that sorts, switches a tab or explains a term. The bar is the same on every page. */
const OF_PAGE = 'main button:not([type="submit"], [disabled], [role="tab"], thead *, [class*="_term_"])'
const OF_BAR = 'header button:not([disabled])'
const OPENERS_MOST = 12

/** Pages with longer lists are walked up to here. */
const MOST = 250

/**
 * Mark the elements of `root` that Tab has to reach, and begin before the first: one of each set of radio buttons, none in
 * what is closed or hidden.
 */
function markExpected(root: string) {
  const area = document.querySelector(root) ?? document.body
  const KINDS = 'a[href], button, input, select, textarea, summary, iframe, [tabindex]'
  const seen = new Set<string>()
  for (const element of area.querySelectorAll<HTMLElement>(KINDS)) {
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
  area.prepend(start)
  start.focus()
}

/** Describe the focused element, and forget that it is expected. */
async function describeFocused(root: string): Promise<Stop & { place: Place }> {
  const element = document.activeElement as HTMLElement | null
  // Behind the last element of a page is nothing, or its first.
  if (!element || element === document.body || !(document.querySelector(root) ?? document.body).contains(element)) {
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
  // What loads above the element after it has the focus may push it out of the window: a person scrolls.
  if (!isSeen()) element.scrollIntoView({ block: 'nearest' })
  const isHidden = !isSeen()
  // To take the focus away and to give it back costs two layouts of the page: one element of each kind shows how.
  const kind = [element.localName, element.role, element.className, element.parentElement?.className].join()
  const page = window as { known?: Set<string> }
  page.known ??= new Set()
  if (page.known.has(kind)) return { what, place, isInvisible: false, isHidden }
  page.known.add(kind)
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
  const scroll = [window.scrollX, window.scrollY] as const
  element.blur()
  const isInvisible = look() === focused
  element.focus({ preventScroll: true })
  window.scrollTo(...scroll)
  return { what, place, isInvisible, isHidden }
}

/** Walk by Tab from the first element of `root` until it leaves the page or returns to where it began. */
async function walk(page: Page, root: string): Promise<Walk> {
  await page.evaluate(markExpected, root)
  const stops: Stop[] = []
  for (let step = 0; step < MOST; step++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(describeFocused, root)
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

/**
 * Expect that the page is used by keys alone: Tab reaches everything and shows where it is, Escape leads back from what a
 * button opens. The bar is the same on every page: Tab walks through it, and its buttons are pressed, only `withBar`.
 */
export async function expectUsableByKeys(page: Page, withBar: boolean) {
  const { stops, unreached } = await walk(page, withBar ? 'body' : 'main')
  if (withBar) expect(stops.length).toBeGreaterThan(0)
  expect(unreached).toEqual([])
  expect(stops.filter(({ isInvisible }) => isInvisible).map(({ what }) => what)).toEqual([])
  expect(stops.filter(({ isHidden }) => isHidden).map(({ what }) => what)).toEqual([])
  const buttons = withBar ? `${OF_PAGE}, ${OF_BAR}` : OF_PAGE
  for (const opener of await openers(page, buttons)) await expectReturn(page, opener)
}

/** Return a selector of each button with a unique name on the page. */
async function openers(page: Page, selector: string): Promise<string[]> {
  return page.evaluate(
    ([buttons, most]) => {
      const names = new Set<string>()
      const found: string[] = []
      for (const element of document.querySelectorAll<HTMLElement>(buttons as string)) {
        // "Revoke key 1" and "Revoke key 2" open the same dialog, "Download: Loss" and "Download: Round trip" the same menu.
        const name = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
        const kind = name.split(element.closest('tbody, ul') ? ' ' : ':')[0] ?? ''
        if (!element.checkVisibility() || names.has(kind)) continue
        names.add(kind)
        element.dataset.opener = String(found.length)
        found.push(`[data-opener="${found.length}"]`)
      }
      return found.slice(0, most as number)
    },
    [selector, OPENERS_MOST] as const,
  )
}

/** Give the focus to the element of a selector; return false if the page has none. */
const focus = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate((wanted) => {
    const element = document.querySelector<HTMLElement>(wanted)
    element?.focus()
    return element !== null
  }, selector)

/** Press a button by key. If that opens something, the focus is in it, and Escape brings it back to the button. */
async function expectReturn(page: Page, selector: string) {
  const opener = page.locator(selector)
  const before = await page.locator(OVER).count()
  // An earlier button may have changed the page.
  if (!(await focus(page, selector))) return
  await page.keyboard.press('Enter')
  const over = page.locator(OVER)
  if ((await opener.getAttribute('aria-haspopup', { timeout: 1_000 }).catch(() => null)) !== null) {
    await expect.poll(() => over.count()).toBeGreaterThan(before)
  } else {
    await page.waitForTimeout(150)
    if ((await over.count()) <= before) return
  }
  const what = await opener.evaluate((one) => one.getAttribute('aria-label') ?? one.textContent)
  const isInside = () => page.evaluate((selector) => document.activeElement?.closest(selector) != null, OVER)
  await expect.poll(isInside, { message: `${what}: the focus is in what it opens` }).toBe(true)
  await page.keyboard.press('Escape')
  await expect(over, `${what}: Escape closes what it opens`).toHaveCount(before)
  await expect(opener, `${what}: the focus returns`).toBeFocused()
}
