/** Layout shifts and accessibility of the pages of a large mesh that is measured now. */

import type { Page } from '@playwright/test'
import { axeFindings, COLOUR_RULES } from '../support/accessibility'
import { expect, read, test } from '../support/journey'
import { meshesOf, observe, report, seen } from './measure'

test.describe.configure({ timeout: 3_600_000 })

/** Rules of a page that loads. Landmarks and headings below the first, which are best practice, come with its data. */
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Findings of the pages looked at so far. */
class Audit {
  shift = 0
  where = ''
  violations = 0
  pages = 0

  /** Open a page with its responses held back, so that its loading state can be seen; then let it load. */
  async look(page: Page, address: string, name: string) {
    const loading = await held(page)
    await page.goto(address)
    await loading.begun
    // A page that takes 300 ms or longer says that it loads; before, nothing changes.
    await page
      .getByRole('heading', { level: 1 })
      .first()
      .waitFor({ timeout: 5_000 })
      .catch(() => undefined)
    await this.check(page, `${name}, loading`, WCAG)
    if ((await page.getByRole('heading', { level: 1 }).count()) === 0) {
      this.violations += 1
      console.log(`${name}, loading: no first heading`)
    }
    await loading.release()
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    await expect(page.getByText(/^Loading /)).toHaveCount(0)
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined) // a live page is never idle
    const { shift } = await seen(page)
    if (shift > this.shift) [this.shift, this.where] = [shift, name]
    if (shift > 0.01) console.log(`${name}: layout shift ${shift.toFixed(3)}`)
    await this.check(page, name)
    this.pages += 1
  }

  /** Count the violations of any rule, or of `some`, in both themes; structure is the same in both. */
  private async check(page: Page, name: string, some?: string[]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const rules = colorScheme === 'light' ? some : COLOUR_RULES
      let findings = await axeFindings(page, rules)
      if (findings.length > 0) {
        await page.waitForTimeout(500) // colours change gradually
        findings = await axeFindings(page, rules)
      }
      this.violations += findings.length
      for (const finding of findings) console.log(`${name}, ${colorScheme}: ${finding}`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }
}

/** Requests that every page waits for before it shows anything: who is signed in, which meshes there are, the server. */
const OF_ALL_PAGES = /\/v1\/(about|auth\/\w+|meshes(\?.*)?)$/

/** Hold back the responses of the API to the next page. */
async function held(page: Page) {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  await page.route('**/v1/**', async (route) => {
    if (!OF_ALL_PAGES.test(route.request().url())) {
      asked.resolve()
      await gate.promise
    }
    await route.continue().catch(() => undefined) // the page may be gone
  })
  const patience = page.waitForTimeout(3_000) // a page that loads nothing
  return {
    begun: Promise.race([asked.promise, patience])
      .then(() => page.locator('main').first().waitFor({ timeout: 5_000 }))
      .catch(() => undefined), // it shows nothing yet, which is a finding
    release: async () => {
      gate.resolve()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    },
  }
}

test('pages: layout and accessibility', async ({ own: page }) => {
  const audit = new Audit()
  await observe(page)
  const mesh = (await meshesOf(page))[100] as string
  const { vms } = await read<{ vms: { id: string }[] }>(page, `/v1/meshes/${mesh}/roster`)
  for (const address of pagesOf(mesh, vms[0]?.id ?? '', vms[1]?.id ?? '')) {
    await audit.look(page, address, address.replace(/[0-9a-f-]{36}/g, '…'))
  }

  report('ui_cls_max', audit.shift, { page: audit.where, pages: audit.pages })
  report('ui_axe_violations', audit.violations, { pages: audit.pages })
})

const pagesOf = (mesh: string, source: string, target: string) => [
  ...['/', `/meshes/${mesh}`, `/meshes/${mesh}?by=zone`, `/meshes/${mesh}/paths/${source}/${target}`, '/vms'],
  ...[`/vms/${source}`, '/zones', '/meshes', `/meshes/${mesh}/settings`, '/incidents', '/alert-rules', '/receivers'],
  ...['/silences', '/curves', '/curves/memcached-server', '/applications', '/recommendations', '/simulations', '/jobs'],
  ...['series', 'distribution', 'variability', 'losses', 'movers', 'spikes'].map(
    (show) => `/meshes/${mesh}/explore?show=${show}&span=15m`,
  ),
  ...[`/what-if?mesh=${mesh}`, `/onboarding?mesh=${mesh}`, '/api-keys', '/usage', '/audit', '/about', '/no-such-page'],
]
