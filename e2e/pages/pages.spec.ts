import type { Server } from 'node:http'
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test'
import { COLOUR_RULES, expectAccessible } from '../support/accessibility'
import { loadRecording } from '../support/recording'
import { startReplay, VIEW, type View, viewsOf } from '../support/replay'

const recording = loadRecording()
const ORIGIN = 'http://localhost'

interface Replay {
  url: string
  missed: Set<string>
}

const test = base.extend<object, { replay: Replay }>({
  replay: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function needs from this pattern
    async ({}, use) => {
      const missed = new Set<string>()
      const { url, server } = await startReplay(recording, missed)
      await use({ url, missed })
      await stop(server)
    },
    { scope: 'worker' },
  ],
  // Some pages show their URL, so it is constant; a proxy leads to the server.
  proxy: async ({ replay }, use) => use({ server: replay.url }),
})

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}

/** Open a page of the recording. */
async function open(page: Page, context: BrowserContext, address: string, view: View) {
  await context.addCookies([{ name: VIEW, value: view, url: ORIGIN }])
  await page.clock.setFixedTime(recording.now)
  await page.goto(ORIGIN + address)
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  await expect(page.getByText(/^Loading /)).toHaveCount(0)
}

for (const [name, address, view] of viewsOf(recording)) {
  test(`${name} fits a narrow window`, async ({ page, context }) => {
    await page.setViewportSize({ width: 375, height: 800 })
    await open(page, context, address, view)
    await page.waitForLoadState('networkidle')
    // The body is as wide as the window less the room of the scroll bar, which the root counts as its own.
    const hidden = await page.locator('html').evaluate((root) => root.scrollWidth - document.body.clientWidth)
    expect(hidden).toBe(0)
  })

  test(`${name} looks as before and is accessible, light and dark`, async ({ page, context, replay }, { config }) => {
    replay.missed.clear()
    await page.emulateMedia({ colorScheme: 'light' })
    await open(page, context, address, view)
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
