import type { Server } from 'node:http'
import { test as base, type ConsoleMessage, expect, type Page } from '@playwright/test'
import { COLOUR_RULES, expectAccessible } from '../support/accessibility'
import { loadRecording } from '../support/recording'
import { STRICT, startReplay, VIEW, type View, viewsOf } from '../support/replay'

const recording = loadRecording()
const ORIGIN = 'http://localhost'

interface Replay {
  url: string
  missed: Set<string>
}

const test = base.extend<object, { replay: Replay; shared: Page }>({
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
  // One browser window for all tests of a process: it has the scripts of the console, compiled, after the first page.
  shared: [
    async ({ browser, replay }, use, { project }) => {
      const { contextOptions = {}, deviceScaleFactor = 1, locale = 'en-GB', timezoneId = 'UTC' } = project.use
      // Some pages show their URL, so it is constant; a proxy leads to the server.
      const proxy = { server: replay.url }
      const context = await browser.newContext({ ...contextOptions, deviceScaleFactor, locale, timezoneId, proxy })
      const page = await context.newPage()
      await page.clock.setFixedTime(recording.now)
      await page.addInitScript(() => {
        localStorage.clear()
        sessionStorage.clear()
      })
      await use(page)
      await context.close()
    },
    { scope: 'worker' },
  ],
})

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}

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

/** Load a page of the recording, light, in a window of a given width. */
async function open(page: Page, address: string, view: View, width: number) {
  await page.context().addCookies([{ name: VIEW, value: view, url: ORIGIN }])
  await page.setViewportSize({ width, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(ORIGIN + address)
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  await expect(page.getByText(/^Loading /)).toHaveCount(0)
}

for (const [name, address, view] of viewsOf(recording)) {
  test(`${name} fits a narrow window and keeps to the content policy`, async ({ shared: page }) => {
    const refused = await refusedDuring(page, async () => {
      await open(page, address, view, 375)
      await page.waitForLoadState('networkidle')
    })
    expect(refused).toEqual([])
    // The body is as wide as the window less the room of the scroll bar, which the root counts as its own.
    const hidden = await page.locator('html').evaluate((root) => root.scrollWidth - document.body.clientWidth)
    expect(hidden).toBe(0)
  })

  test(`${name} looks as before and is accessible, light and dark`, async ({ shared: page, replay }, { config }) => {
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
