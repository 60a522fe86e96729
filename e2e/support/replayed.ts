/** Pages of the recording in a browser window that the tests of a process share. */

import type { Server } from 'node:http'
import { test as base, expect, type Page } from '@playwright/test'
import { loadRecording } from './recording'
import { startReplay, VIEW, type View } from './replay'

export const recording = loadRecording()
export const ORIGIN = 'http://localhost'

interface Replay {
  url: string
  /** Requests that were not recorded. */
  missed: Set<string>
  /** What the content policy refused. */
  refused: string[]
}

export const test = base.extend<object, { replay: Replay; shared: Page }>({
  replay: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function needs from this pattern
    async ({}, use) => {
      const missed = new Set<string>()
      const { url, server } = await startReplay(recording, missed)
      await use({ url, missed, refused: [] })
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
        // Playwright does not see the script of a shared worker arrive: a page with one is never idle. A tab has its own stream then.
        Reflect.deleteProperty(window, 'SharedWorker')
        // The product ships one font; its monospace is that of the machine, and differs from one to the next.
        const sheet = new CSSStyleSheet()
        sheet.replaceSync('html:root { --mantine-font-family-monospace: "Inter Variable" }')
        document.adoptedStyleSheets = [sheet]
      })
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) replay.refused.push(message.text())
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

/** Load a page of the recording in a window of a given width. */
export async function open(
  page: Page,
  address: string,
  view: View,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
) {
  await page.context().addCookies([{ name: VIEW, value: view, url: ORIGIN }])
  await page.setViewportSize({ width, height: 800 })
  await page.emulateMedia({ colorScheme })
  await page.goto(ORIGIN + address)
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  await expect(page.getByText(/^Loading /)).toHaveCount(0)
}
