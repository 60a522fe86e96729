/** What the journeys share: a signed-in page, the demonstration mesh, accessibility. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test as base, expect, type Page } from '@playwright/test'

export { expect } from '@playwright/test'

function given(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set.`)
  return value
}

export const credentials = () => ({ email: given('SINEMORA_E2E_EMAIL'), password: given('SINEMORA_E2E_PASSWORD') })

interface Mesh {
  id: string
  name: string
}

interface Fixtures {
  /** A page that is signed in; nobody is on `page`. */
  inside: Page
  /** The mesh that measures from the start. */
  mesh: Mesh
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function needs from this pattern
  baseURL: async ({}, use) => use(given('SINEMORA_E2E_URL')),
  inside: async ({ page }, use) => {
    const answer = await page.request.post('/v1/auth/sign-in', { data: credentials() })
    expect(answer.ok()).toBe(true)
    await use(page)
  },
  mesh: async ({ inside }, use) => {
    const { items } = await read<{ items: Mesh[] }>(inside, '/v1/meshes')
    const demo = items.find(({ name }) => name === 'demo')
    if (!demo) throw new Error('There is no demonstration mesh.')
    await use(demo)
  },
})

/** What the API answers to whoever is signed in on the page. */
export async function read<T>(page: Page, path: string): Promise<T> {
  const answer = await page.request.get(path)
  expect(answer.ok(), `${path} answers ${answer.status()}`).toBe(true)
  return (await answer.json()) as T
}

/** Asks the API to make or change something, as whoever is signed in on the page. */
export async function write<T>(page: Page, method: 'POST' | 'PATCH', path: string, data: object): Promise<T> {
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const headers = { 'X-CSRF-Token': csrf_token, 'If-Match': '*' }
  const answer = await page.request.fetch(path, { method, data, headers })
  expect(answer.ok(), `${path} answers ${answer.status()}`).toBe(true)
  return (await answer.json()) as T
}

/** Deletes what a journey made. */
export async function remove(page: Page, path: string) {
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const answer = await page.request.delete(path, { headers: { 'X-CSRF-Token': csrf_token } })
  expect(answer.ok(), `${path} answers ${answer.status()}`).toBe(true)
}

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

/** Expect no violation of any axe rule and no unreadable text on the page, once its transitions have ended. */
export async function expectAccessible(page: Page) {
  await page.evaluate(AXE)
  await expect(async () => {
    const findings = await page.evaluate(() => {
      const { axe } = window as unknown as { axe: { run: () => Promise<Findings> } }
      return axe.run()
    })
    const faults = [...findings.violations, ...unreadable(findings)]
    expect(faults.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => html).join('\n')}`)).toEqual(
      [],
    )
  }).toPass({ timeout: 20_000 })
}

const UNITS: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }

/** "84.2 µs" in nanoseconds. */
export function nanoseconds(text: string): number {
  const [, number, unit] = /([\d.]+) (ns|µs|ms|s)\b/.exec(text) ?? []
  if (number === undefined || unit === undefined) throw new Error(`no delay in "${text}"`)
  return Number(number) * (UNITS[unit] as number)
}
