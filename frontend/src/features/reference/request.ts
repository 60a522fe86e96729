/** A call that is tried: its request from the form, and its answer as text. */

import { csrfToken, randomKey } from '~/api/client'
import type { Operation } from './contract'

export interface Tried {
  values: Record<string, string>
  body: string
  mediaType: string | undefined
  /** API key that takes the place of the session; empty for the session. */
  key: string
}

export interface Answered {
  status: number
  reason: string
  tookMs: number
  headers: [string, string][]
  body: string
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const SHOWN_MAX = 200_000

/** Return the request of a call. A list in the query has its values in lines or after commas. */
export function requestOf(operation: Operation, { values, body, mediaType, key }: Tried): Request {
  let path = operation.path
  const query = new URLSearchParams()
  const headers = new Headers({ Accept: 'application/json, */*' })
  for (const { name, in: where, schema } of operation.parameters) {
    const value = values[name]?.trim() ?? ''
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value === '') continue
    else if (where === 'header') headers.set(name, value)
    else for (const one of isList(schema) ? value.split(/[\n,]+/) : [value]) query.append(name, one.trim())
  }
  if (key) headers.set('Authorization', `Bearer ${key}`)
  else if (!SAFE.has(operation.method)) headers.set('X-CSRF-Token', csrfToken())
  if (operation.method === 'POST' && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', randomKey())
  const hasBody = mediaType !== undefined && body.trim() !== ''
  if (hasBody) headers.set('Content-Type', mediaType)
  const search = query.size > 0 ? `?${query}` : ''
  return new Request(new URL(path + search, location.origin), {
    method: operation.method,
    headers,
    credentials: key ? 'omit' : 'same-origin',
    ...(hasBody ? { body } : {}),
  })
}

/** Send a request and return its answer; a body that is no text is named by its size. */
export async function send(request: Request): Promise<Answered> {
  const began = performance.now()
  const response = await fetch(request)
  const type = response.headers.get('Content-Type') ?? ''
  const bytes = await response.arrayBuffer()
  const tookMs = performance.now() - began
  return {
    status: response.status,
    reason: response.statusText,
    tookMs,
    headers: [...response.headers],
    body: textOf(bytes, type),
  }
}

function textOf(bytes: ArrayBuffer, type: string): string {
  if (!/json|text|yaml|xml/.test(type)) return bytes.byteLength > 0 ? `${bytes.byteLength} bytes of ${type}` : ''
  const text = new TextDecoder().decode(bytes)
  const shown = /json$|json;/.test(type) ? pretty(text) : text
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}\n…` : shown
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export const isList = (schema: { type?: string; anyOf?: { type?: string }[] }): boolean =>
  schema.type === 'array' || (schema.anyOf?.some(({ type }) => type === 'array') ?? false)
