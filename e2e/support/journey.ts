/** What the journeys share: a signed-in page, the demonstration mesh, accessibility. */

import { test as base, expect, type Page } from '@playwright/test'

export { expect } from '@playwright/test'
export { expectAccessible } from './accessibility'

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
export async function write<T>(page: Page, method: 'POST' | 'PUT' | 'PATCH', path: string, data: object): Promise<T> {
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

const UNITS: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }

/** "84.2 µs" in nanoseconds. */
export function nanoseconds(text: string): number {
  const [, number, unit] = /([\d.]+) (ns|µs|ms|s)\b/.exec(text) ?? []
  if (number === undefined || unit === undefined) throw new Error(`no delay in "${text}"`)
  return Number(number) * (UNITS[unit] as number)
}
