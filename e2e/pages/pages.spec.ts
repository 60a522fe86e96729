import { type ConsoleMessage, expect, type Page } from '@playwright/test'
import { COLOUR_RULES, expectAccessible } from '../support/accessibility'
import { expectUsableByKeys } from '../support/keyboard'
import { STRICT, viewsOf } from '../support/replay'
import { ORIGIN, open, recording, test } from '../support/replayed'

/** Collect what the content policy of the page refused while `visit` runs. */
async function refusedDuring(page: Page, visit: () => Promise<void>): Promise<string[]> {
  const refused: string[] = []
  const listen = (message: ConsoleMessage) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text())
  }
  page.on('console', listen)
  await page.context().addCookies([{ name: STRICT, value: 'yes', url: ORIGIN }])
  await visit()
  await page.context().clearCookies({ name: STRICT })
  page.off('console', listen)
  return refused
}

for (const [name, address, view] of viewsOf(recording)) {
  test(`${name} fits a narrow window, keeps to the content policy and is used by keys`, async ({ shared: page }) => {
    const refused = await refusedDuring(page, async () => {
      await open(page, address, view, 375)
      await page.waitForLoadState('networkidle')
      // The body is as wide as the window less the room of the scroll bar, which the root counts as its own.
      const hidden = await page.locator('html').evaluate((root) => root.scrollWidth - document.body.clientWidth)
      expect(hidden).toBe(0)
      await page.setViewportSize({ width: 1280, height: 800 })
      // An empty page has the keys of the full one, less its list.
      if (view !== 'empty') await expectUsableByKeys(page, name === 'heatmap')
    })
    expect(refused).toEqual([])
  })

  test(`${name} looks as before and is accessible, light and dark`, async ({ shared: page, replay }, { config }) => {
    // The page of the last test may still play, and request what was not recorded.
    await page.goto('about:blank')
    replay.missed.clear()
    await open(page, address, view, 1280)
    // A comparison waits until the page looks as expected; a new picture has nothing to wait for.
    if (config.updateSnapshots !== 'missing') {
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(1_000)
    }
    // Long tables scroll inside themselves, so that readers find what follows; eight windows are long enough.
    expect(await page.locator('html').evaluate((root) => root.scrollHeight)).toBeLessThan(8 * 800)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expect(page).toHaveScreenshot(`${name}-${colorScheme}.png`, { fullPage: true })
      // Structure is the same in both themes.
      await expectAccessible(page, colorScheme === 'light' ? undefined : COLOUR_RULES)
    }
    expect([...replay.missed]).toEqual([])
  })
}
