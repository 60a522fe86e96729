import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { COLOUR_RULES, expectAccessible } from '../support/accessibility'
import { expectUsableByKeys } from '../support/keyboard'
import { viewsOf } from '../support/replay'
import { open, recording, test } from '../support/replayed'

const VIEWS = viewsOf(recording)
const THEMES = ['light', 'dark'] as const
const FOLDER = join(import.meta.dirname, '../screenshots')

/**
 * Pages of which a picture is kept in both themes, because only a look can judge them: what is drawn on a canvas or as a
 * chart, where colours carry the meaning, and one page each of the plain kinds: a list, a form, an empty list, a page
 * outside the shell. docs/ shows some of the pictures.
 */
const PICTURES = new Set([
  'sign-in',
  'overview',
  'heatmap',
  'heatmap-zones',
  'heatmap-asymmetry',
  'heatmap-comparison',
  'heatmap-moves',
  'path',
  'latency-budget',
  'distribution',
  'incidents',
  'incident',
  'new-alert-rule',
  'what-if',
  'curves',
  'curve',
  'curve-comparison',
  'simulation',
  'fairness',
  'tail-lab',
  'meshes-empty',
])

/** Expect that no part of the page is beyond its right edge. */
async function expectFits(page: Page) {
  // The body is as wide as the window less the room of the scroll bar, which the root counts as its own.
  const beyond = await page.locator('html').evaluate((root) => root.scrollWidth - document.body.clientWidth)
  expect(beyond).toBe(0)
}

const navigationEntries = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').count()

for (const [name, address, view] of VIEWS) {
  test(`${name} fits its window, keeps to the content policy, is accessible and used by keys`, async ({
    shared: page,
    replay: { missed, refused },
  }) => {
    // The page of the last test may still play, and request what was not recorded.
    await page.goto('about:blank')
    missed.clear()
    refused.length = 0
    const isPictured = PICTURES.has(name)
    // Structure is the same in both themes, and one layout changes the theme with the width.
    await open(page, address, view, 375, isPictured ? 'light' : 'dark')
    await page.waitForLoadState('networkidle')
    await expectFits(page)
    if (!isPictured) await expectAccessible(page, COLOUR_RULES)
    await page.setViewportSize({ width: 1280, height: 800 })
    for (const colorScheme of isPictured ? THEMES : (['light'] as const)) {
      await page.emulateMedia({ colorScheme })
      if (isPictured) await expect(page).toHaveScreenshot(`${name}-${colorScheme}.png`, { fullPage: true })
      await expectAccessible(page, colorScheme === 'light' ? undefined : COLOUR_RULES)
    }
    await expectFits(page)
    if (view !== 'signed-out') expect(await navigationEntries(page)).toBeLessThanOrEqual(11)
    // Long tables scroll inside themselves, so that readers find what follows; eight windows are long enough.
    expect(await page.locator('html').evaluate((root) => root.scrollHeight)).toBeLessThan(8 * 800)
    expect([...missed]).toEqual([])
    // An empty page has the keys of the full one, less its list; a heatmap those of every other; a stranger fewer keys.
    const isVariant = view === 'empty' || name.startsWith('heatmap-') || name === 'api-reference-signed-out'
    if (!isVariant) await expectUsableByKeys(page, name === 'heatmap')
    expect(refused).toEqual([])
  })
}

test('the overview and what an incident is about fit a window of 1440 × 900', async ({ shared: page }) => {
  for (const name of ['overview', 'incident']) {
    await open(page, recording.pages[name] ?? '', 'recorded', 1440, 'light')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.waitForLoadState('networkidle')
    const last = name === 'overview' ? page.locator('main > *').last() : page.getByText('Who was told').locator('../..')
    const box = await last.boundingBox()
    expect((box?.y ?? 0) + (box?.height ?? 901)).toBeLessThanOrEqual(900)
  }
})

test('every kept picture is of a page', () => {
  const names = [...PICTURES].flatMap((name) => THEMES.map((theme) => `${name}-${theme}.png`))
  expect(readdirSync(FOLDER).sort()).toEqual(names.sort())
})

const FAULTS = {
  'a button without its colour': 'button[type="submit"] { background: #eee !important }',
  'a field moved by 4 pixels': 'form { translate: 0 4px }',
}

test(`a picture shows ${Object.keys(FAULTS).join(' and ')}`, async ({ shared: page }, { config }) => {
  test.skip(['all', 'changed'].includes(config.updateSnapshots), 'it would keep the fault')
  await open(page, recording.pages['sign-in'] as string, 'signed-out', 1280)
  await expect(page).toHaveScreenshot('sign-in-light.png', { fullPage: true })
  for (const style of Object.values(FAULTS)) {
    await page.evaluate((rules) => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(rules)
      document.adoptedStyleSheets = [...document.adoptedStyleSheets.slice(0, 1), sheet]
    }, style)
    await expect(page).not.toHaveScreenshot('sign-in-light.png', { fullPage: true })
  }
})
