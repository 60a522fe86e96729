import { expect, type Locator, type Page } from '@playwright/test'
import { walk } from '../support/keyboard'
import { viewsOf } from '../support/replay'
import { open, recording, test } from '../support/replayed'

const PAGES = viewsOf(recording).filter(([, , view]) => view !== 'empty')

/** What opens over a page. */
const OVER = '[role="dialog"], [role="menu"]'

/** Buttons that may open something. The bar is the same on every page. */
const OF_PAGE = 'main button:not([type="submit"]):not([disabled])'
const OF_BAR = 'header button:not([disabled])'
const OPENERS_MOST = 12

for (const [name, address, view] of PAGES) {
  test(`${name} is used by keys alone: Tab shows where it leads, and Escape leads back`, async ({ shared: page }) => {
    await open(page, address, view, 1280)
    await page.waitForLoadState('networkidle')
    const { stops, unreached } = await walk(page)
    expect(stops.length).toBeGreaterThan(0)
    expect(unreached).toEqual([])
    expect(stops.filter(({ isInvisible }) => isInvisible).map(({ what }) => what)).toEqual([])
    expect(stops.filter(({ isHidden }) => isHidden).map(({ what }) => what)).toEqual([])
    const buttons = name === 'heatmap' ? `${OF_PAGE}, ${OF_BAR}` : OF_PAGE
    for (const opener of await openers(page, buttons)) await expectReturn(page, page.locator(opener))
  })
}

/** Return a selector of each button that has a name of its own on the page. */
async function openers(page: Page, selector: string): Promise<string[]> {
  return page.evaluate(
    ([buttons, most]) => {
      const names = new Set<string>()
      const found: string[] = []
      for (const element of document.querySelectorAll<HTMLElement>(buttons as string)) {
        // "Revoke key 1" and "Revoke key 2" open the same dialog.
        const name = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
        const kind = element.closest('tbody, ul') ? (name.split(' ')[0] ?? '') : name
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

/** Press a button by key. If that opens something, the focus is in it, and Escape brings it back to the button. */
async function expectReturn(page: Page, opener: Locator) {
  if ((await opener.count()) === 0) return // an earlier button has changed the page
  const before = await page.locator(OVER).count()
  await opener.focus()
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

test('the palette has what is typed while it still loads', async ({ shared: page }) => {
  await page.goto('about:blank')
  await open(page, recording.pages.vms as string, 'recorded', 1280)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('heatmap', { delay: 15 })
  await expect(page.getByRole('combobox', { name: /^Search/ })).toHaveValue('heatmap')
  await page.keyboard.press('Escape')
})
