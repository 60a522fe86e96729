/** Fixtures of the journeys: a signed-in page, the demonstration mesh, accessibility. */

import { type Browser, type BrowserContext, test as base, expect, type Page } from '@playwright/test'

export { expect } from '@playwright/test'
export { expectAccessible } from './accessibility'

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set.`)
  return value
}

export const credentials = () => ({
  email: required('SINEMORA_E2E_EMAIL'),
  password: required('SINEMORA_E2E_PASSWORD'),
})

interface Mesh {
  id: string
  name: string
}

interface Vm extends Mesh {
  zone_name: string
}

interface Fixtures {
  /** A signed-in page; its window is that of all journeys. `page` is not signed in. */
  inside: Page
  /** A signed-in page in a window of its own, for a journey that ends its session or looks at the first load. */
  own: Page
  /** The demonstration mesh. */
  mesh: Mesh
  /** Its VMs, of which the first two are a path. */
  vms: [Vm, Vm, Vm, ...Vm[]]
}

type Signed = Pick<Page, 'request'>

async function signIn({ request }: Signed) {
  const response = await request.post('/v1/auth/sign-in', { data: credentials() })
  expect(response.ok()).toBe(true)
}

/** Open a page in a separate browser, as another person has. */
export const stranger = async (browser: Browser) => (await browser.newContext()).newPage()

/** Enter address and password on the sign-in page that is shown. */
export async function enter(page: Page, password = credentials().password) {
  await page.getByLabel('E-mail').fill(credentials().email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Use a page, and expect that its content policy refused nothing. */
async function usePage(page: Page, use: (page: Page) => Promise<void>) {
  const refused: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text())
  })
  await use(page)
  expect(refused).toEqual([])
}

export const test = base.extend<Fixtures, { session: BrowserContext }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function needs from this pattern
  baseURL: async ({}, use) => use(required('SINEMORA_E2E_URL')),
  // One signed-in window for all journeys of a process: it has the scripts of the console, compiled, after the first page.
  session: [
    async ({ browser }, use, { project }) => {
      const { contextOptions = {}, viewport = null } = project.use
      const context = await browser.newContext({ ...contextOptions, viewport, baseURL: required('SINEMORA_E2E_URL') })
      await signIn(context)
      await use(context)
      await context.close()
    },
    { scope: 'worker' },
  ],
  page: async ({ page }, use) => usePage(page, use),
  own: async ({ page }, use) => {
    // Playwright does not see the script of a shared worker arrive: a page with one is never idle.
    await page.addInitScript(() => void Reflect.deleteProperty(window, 'SharedWorker'))
    await signIn(page)
    await use(page)
  },
  inside: async ({ session }, use) => {
    const page = await session.newPage()
    await usePage(page, use)
    // What a journey chose, such as a theme, is not that of the next.
    if (page.url() !== 'about:blank') await page.evaluate(() => localStorage.clear())
    await page.close()
  },
  mesh: async ({ session }, use) => {
    const { items } = await read<{ items: Mesh[] }>(session, '/v1/meshes')
    const demo = items.find(({ name }) => name === 'demo')
    if (!demo) throw new Error('There is no demonstration mesh.')
    await use(demo)
  },
  vms: async ({ session, mesh }, use) => {
    await use((await read<{ vms: Fixtures['vms'] }>(session, `/v1/meshes/${mesh.id}/roster`)).vms)
  },
})

/** Return the API's response to the signed-in user of the page. */
export async function read<T>(page: Signed, path: string): Promise<T> {
  const response = await page.request.get(path)
  expect(response.ok(), `${path} responds with ${response.status()}`).toBe(true)
  return (await response.json()) as T
}

/** Create or change an object as the signed-in user of the page. */
export async function write<T>(page: Signed, method: 'POST' | 'PUT' | 'PATCH', path: string, data: object): Promise<T> {
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const headers = { 'X-CSRF-Token': csrf_token, 'If-Match': '*' }
  const response = await page.request.fetch(path, { method, data, headers })
  expect(response.ok(), `${path} responds with ${response.status()}`).toBe(true)
  return (await response.json()) as T
}

/** Create an API key that is valid for a day. */
export function createKey(page: Signed, name: string, scope: string) {
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  return write<{ id: string; secret: string }>(page, 'POST', '/v1/api-keys', { name, scopes: [scope], expires_at })
}

/** Delete an object that a journey created. */
export async function remove(page: Signed, path: string) {
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const response = await page.request.delete(path, { headers: { 'X-CSRF-Token': csrf_token } })
  expect(response.ok(), `${path} responds with ${response.status()}`).toBe(true)
}

const UNITS: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }

/** "84.2 µs" in nanoseconds. */
export function nanoseconds(text: string): number {
  const [, number, unit] = /([\d.]+)\s(ns|µs|ms|s)\b/.exec(text) ?? []
  if (number === undefined || unit === undefined) throw new Error(`no delay in "${text}"`)
  return Number(number) * (UNITS[unit] as number)
}
