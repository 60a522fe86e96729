/** Typed client of the Sinemora API, for Node.js and browsers. */

import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './errors.ts'
import { type Retries, repeated } from './retries.ts'
import type { paths } from './schema.gen.ts'

export { ApiError, type FieldError } from './errors.ts'
export type { Retries } from './retries.ts'
export type { components, operations, paths } from './schema.gen.ts'

export interface Options {
  /** Address of the installation: https://sinemora.example. */
  url: string
  /** An API key. Leave it out for what needs none. */
  key?: string
  retries?: Partial<Retries>
}

/** Return a client: a function for each method, typed by path. Throws `TypeError` for an address without http. */
export function createSinemoraClient({ url, key, retries }: Options): Client<paths> {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`Invalid address: ${url}. It begins with https://.`)
  const send = repeated(retries)
  return createClient<paths>({
    baseUrl: url.replace(/\/$/, ''),
    ...(key ? { headers: { Authorization: `Bearer ${key}` } } : {}),
    fetch: (request) => {
      if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) {
        request.headers.set('Idempotency-Key', crypto.randomUUID())
      }
      return send(request)
    },
  })
}

interface Outcome<T> {
  data?: T
  error?: unknown
  response: Response
}

/** Return the data of a response. Throws `ApiError` for a refusal. */
export async function unwrap<T>(call: Promise<Outcome<T>>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw new ApiError(error, response)
  return data as T
}

interface Page<Item> {
  items: Item[]
  next_cursor?: string | null
}

/** Yield every item of a list; the next page is read when it is needed. Throws `ApiError`. */
export async function* itemsOf<Item>(
  page: (cursor: { cursor?: string }) => Promise<Outcome<Page<Item>>>,
): AsyncGenerator<Item> {
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await unwrap(page(cursor ? { cursor } : {}))
    yield* items
    cursor = next_cursor ?? undefined
  } while (cursor)
}
