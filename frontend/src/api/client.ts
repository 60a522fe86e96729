/** The HTTP client: credentials, the CSRF token, idempotency keys. */

import createClient from 'openapi-fetch'
import { Problem, Unreachable } from '~/lib/problem'
import { reportAnswer, reportAway } from './connection'
import type { paths } from './schema.gen'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

let onSignedOut: () => void = () => {}

/** Set what happens when a response reports that the session has ended. */
export function whenSignedOut(action: () => void) {
  onSignedOut = action
}

let onSecondFactorDue: () => void = () => {}

/** Set what happens when a response reports that the tenant requires a second factor from now on. */
export function whenSecondFactorDue(action: () => void) {
  onSecondFactorDue = action
}

let token: string | null = null

/** Read with a token instead of the session of this browser, as pages in frames of other sites do. */
export function readWithToken(given: string) {
  token = given
}

export function cookie(name: string): string | undefined {
  const pair = document.cookie.split('; ').find((text) => text.startsWith(`${name}=`))
  return pair && decodeURIComponent(pair.slice(name.length + 1))
}

/** Return a random key; `crypto.randomUUID` exists on secure origins only, and a trial is often plain HTTP. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function send(asked: Request): Promise<Response> {
  const request = token === null ? asked : new Request(asked, { credentials: 'omit' })
  if (token !== null) request.headers.set('Authorization', `Bearer ${token}`)
  if (!SAFE.has(request.method))
    request.headers.set('X-CSRF-Token', cookie('__Host-sinemora_csrf') ?? cookie('sinemora_csrf') ?? '')
  if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) {
    request.headers.set('Idempotency-Key', randomKey())
  }
  let response: Response
  try {
    response = await fetch(request)
  } catch (cause) {
    if (request.signal.aborted) throw cause
    reportAway()
    throw new Unreachable(cause)
  }
  if ([502, 503, 504].includes(response.status)) reportAway()
  else reportAnswer(response)
  if (response.status === 401 && token === null && !request.url.includes('/v1/auth/')) onSignedOut()
  return response
}

export const client = createClient<paths>({ baseUrl: '', fetch: send })

/** Return the data of a response, or throw its `Problem`. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T
  const problem = new Problem(typeof error === 'object' && error !== null ? error : {}, response)
  if (problem.code === 'second_factor_due') onSecondFactorDue()
  throw problem
}

/** Return the ETag of a response as a change must name it: a proxy that compresses makes it weak. `*` without one. */
export const etagOf = (response: Response): string => response.headers.get('ETag')?.replace(/^W\//, '') ?? '*'

interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** Return every item of a paged list; lists of the inventory are at most a few thousand long. */
export async function everyItem<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const next = await page(cursor)
    items.push(...next.items)
    cursor = next.next_cursor ?? undefined
  } while (cursor)
  return items
}

/** The largest page, from a cursor on. */
export const page = (cursor: string | undefined) => ({ limit: 500, ...(cursor ? { cursor } : {}) })
