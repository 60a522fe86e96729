/** Checks of accessibility with axe-core, which every page must pass. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, type Page } from '@playwright/test'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Check {
  data?: { messageKey?: string | null; contrastRatio?: number } | null
}

interface Finding {
  id: string
  help: string
  nodes: { html: string; any: Check[] }[]
}

interface Findings {
  violations: Finding[]
  incomplete: Finding[]
}

/** Text this close to its background cannot be read at all: a contrast of 1 is the same colour. */
const UNREADABLE_RATIO = 1.5

/**
 * Return the text whose colour equals its background, or nearly does. axe does not call it a violation: text may be
 * hidden on purpose. It lists such text as incomplete, and nothing in this product is hidden that way.
 */
function unreadable({ incomplete }: Findings): Finding[] {
  return incomplete
    .filter(({ id }) => id === 'color-contrast')
    .map((finding) => ({
      ...finding,
      help: 'The colour of text must differ from its background',
      nodes: finding.nodes.filter(({ any }) =>
        any.some(
          ({ data }) => data?.messageKey === 'equalRatio' || (data?.contrastRatio || Infinity) < UNREADABLE_RATIO,
        ),
      ),
    }))
    .filter(({ nodes }) => nodes.length > 0)
}

/** Rules that depend on colours: the remaining ones for a page checked in the other theme. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Return violations of any axe rule (or of `rules`) and unreadable text, a line each. */
export async function axeFindings(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  // A target that has scrolled half under the header is not too small.
  await page.evaluate(() => window.scrollTo(0, 0))
  const findings = await page.evaluate((runOnly) => {
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<Findings> } }
    // The size of targets (WCAG 2.2, 2.5.8) is not checked by default.
    const chosen = runOnly ? { runOnly } : { rules: { 'target-size': { enabled: true } } }
    // What passes is not described, element by element; no page has audio, whose rule reads every style sheet again.
    return axe.run({ resultTypes: ['violations', 'incomplete'], preload: false, ...chosen })
  }, rules)
  const faults = [...findings.violations, ...unreadable(findings)]
  // A slider without words is read as a bare number: no rule of axe asks for them.
  const bare = await page.locator('[role="slider"]:not([aria-valuetext])').evaluateAll((all) => all.map(String))
  return [
    ...faults.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => html).join('\n')}`),
    ...bare.map(() => 'A slider has no aria-valuetext'),
  ]
}

/**
 * Expect no violation of any axe rule (or of `rules`) and no unreadable text, once transitions have ended.
 *
 * One look at a page of a thousand rows takes seconds, and many on a busy machine: the time covers several.
 */
export async function expectAccessible(page: Page, rules?: string[]) {
  await expect(async () => expect(await axeFindings(page, rules)).toEqual([])).toPass({ timeout: 90_000 })
}
