/** The HTTP client: credentials, the CSRF token, idempotency keys. */

import createClient, {
  type ClientPathsWithMethod,
  type FetchResponse,
  type ParamsOption,
  type RequestBodyOption,
} from 'openapi-fetch'
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

const CSRF = /(?:^|; )(?:__Host-)?sinemora_csrf(?:_(\d+))?=([^;]*)/g

/** Return the CSRF token of this installation: others on the same host have cookies with other ports in their names. */
export function csrfToken(): string {
  const found = [...document.cookie.matchAll(CSRF)].sort(
    ([a], [b]) => Number(b.includes('__Host-')) - Number(a.includes('__Host-')),
  )
  const own = found.find(([, port = '']) => port === location.port) ?? found[0]
  return decodeURIComponent(own?.[2] ?? '')
}

/** Return a random key; `crypto.randomUUID` exists on secure origins only, and a trial is often plain HTTP. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function send(asked: Request): Promise<Response> {
  const request = token === null ? asked : new Request(asked, { credentials: 'omit' })
  if (token !== null) request.headers.set('Authorization', `Bearer ${token}`)
  if (!SAFE.has(request.method)) request.headers.set('X-CSRF-Token', csrfToken())
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

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type Url<M extends Method> = ClientPathsWithMethod<typeof client, M>
type Operation<U extends keyof paths, M extends Method> = NonNullable<paths[U][M]>

/** What a request may name: its parameters, its body and the headers of a change. */
type Asked<O> = Pick<
  NonNullable<ParamsOption<O>['params']>,
  keyof NonNullable<ParamsOption<O>['params']> & ('path' | 'query')
> &
  RequestBodyOption<O> & {
    /** The idempotency key: the request happens once. */
    key?: string
    /** The version that a change replaces. */
    version?: string | number
    /** The ETag that a change replaces. */
    etag?: string
    signal?: AbortSignal
  }

type Arguments<O> = object extends Asked<O> ? [asked?: Asked<O>] : [asked: Asked<O>]

/** Parameters of a GET. */
export type Reading<U extends Url<'get'>> = Arguments<Operation<U, 'get'>>

type Answer<U extends keyof paths, M extends Method> =
  FetchResponse<Operation<U, M>, object, 'application/json'> extends infer R
    ? R extends { data: infer T }
      ? T
      : never
    : never

function call(method: Method, url: string, asked: object | undefined) {
  const { path, query, body, key, version, etag, signal } = (asked ?? {}) as Record<string, unknown>
  const headers = { 'Idempotency-Key': key, 'If-Match': version === undefined ? etag : `"${version}"` }
  const init = { params: { path, query }, body, signal, headers }
  return client.request(method, url as never, init as never)
}

/** Return a function that makes requests of a method: it returns the data of the response, or throws its `Problem`. */
const requests =
  <M extends Method>(method: M) =>
  <U extends Url<M>>(url: U, ...[asked]: Arguments<Operation<U, M>>): Promise<Answer<U, M>> =>
    unwrap(call(method, url, asked) as never)

export const get = requests('get')
export const post = requests('post')
export const put = requests('put')
export const patch = requests('patch')
export const remove = requests('delete')

/** Return the ETag of a response as a change must name it: a proxy that compresses makes it weak. `*` without one. */
export const etagOf = (response: Response): string => response.headers.get('ETag')?.replace(/^W\//, '') ?? '*'

/** Return an object with the ETag that a change of it must name. */
export async function tagged<U extends Url<'get'>>(url: U, ...[asked]: Arguments<Operation<U, 'get'>>) {
  const answer = await call('get', url, asked)
  const data: Answer<U, 'get'> = await unwrap(Promise.resolve(answer) as never)
  return { data, etag: etagOf(answer.response) }
}

type Item<U extends Url<'get'>> = Answer<U, 'get'> extends { items: (infer T)[] } ? T : never

/** Return every item of a paged list; lists of the inventory are at most a few thousand long. */
export async function everyItem<U extends Url<'get'>>(url: U, ...[asked]: Arguments<Operation<U, 'get'>>) {
  const items: Item<U>[] = []
  let cursor: string | null | undefined
  do {
    const query = { limit: 500, ...asked?.query, ...(cursor ? { cursor } : {}) }
    const next = (await get(url, ...([{ ...asked, query }] as never))) as {
      items: Item<U>[]
      next_cursor: string | null
    }
    items.push(...next.items)
    cursor = next.next_cursor
  } while (cursor)
  return items
}
