/** A mock of the API: responses of `fetch`, and the requests sent. */

import { vi } from 'vitest'

export interface Sent {
  /** Method and path, as in "POST /v1/meshes". */
  to: string
  query: URLSearchParams
  headers: Headers
  body: unknown
}

type Reply = Response | Promise<Response>

export type Answers = Record<string, unknown[] | object | ((sent: Sent) => Reply)>

/** Answer with a status and a JSON body; problems carry the request's id as the product's do. */
export const reply = (status: number, body?: unknown, headers: Record<string, string> = {}): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  })

/** Refuse one field of a request, as a validation error of the product does. */
export const refuse = (pointer: string, message: string) =>
  reply(422, {
    title: 'Unprocessable Content',
    code: 'request_invalid',
    detail: 'Invalid request: see `errors`.',
    errors: [{ pointer: `#/${pointer}`, message }],
  })

/** Fail for a reason that is no field's. */
export const fail = (status: number, detail: string) => reply(status, { detail, request_id: 'r-1' })

/** Never respond. */
export const hang = () => new Promise<Response>(() => {})

const SESSION = {
  user: { email: 'owner@sinemora.example' },
  tenant: { name: 'Sinemora' },
  role: 'owner',
  csrf_token: 't',
}

/** Answer who is signed in: an owner, with changes. */
export const signedIn = (changes: object = {}) => ({ 'GET /v1/auth/status': { session: { ...SESSION, ...changes } } })

/**
 * Answer requests by "METHOD /path": with the list given (as a page of items), with the body given, or with what a
 * function returns. Everything else is answered with 404. Return the requests sent, oldest first.
 */
export function mockApi(responses: Answers): Sent[] {
  const sent: Sent[] = []
  const known: Answers = { ...signedIn(), ...responses }
  vi.stubGlobal('fetch', async (input: Request) => {
    const url = new URL(input.url)
    const text = await input.text()
    const isJson = input.headers.get('Content-Type')?.includes('json')
    const request: Sent = {
      to: `${input.method} ${url.pathname}`,
      query: url.searchParams,
      headers: input.headers,
      body: isJson && text ? JSON.parse(text) : text,
    }
    sent.push(request)
    const response = known[request.to]
    if (response === undefined) return reply(404, { detail: `The test has no answer to ${request.to}.` })
    if (typeof response === 'function') return response(request)
    return reply(200, Array.isArray(response) ? { items: response, next_cursor: null } : response)
  })
  return sent
}

/** Return the bodies sent to "METHOD /path". */
export const bodiesOf = (sent: Sent[], to: string) =>
  sent.filter((request) => request.to === to).map(({ body }) => body)
