/** Responses of the API as they were recorded for its contract: a test states only what it is about. */

import { readFileSync } from 'node:fs'
import type { paths } from '~/api/schema.gen'

export const CONTRACT = JSON.parse(readFileSync(`${import.meta.dirname}/../../../backend/openapi.json`, 'utf8'))

type Method = 'get' | 'post' | 'put' | 'patch'
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never
type Responses<U extends keyof paths, M extends Method> = paths[U][M] extends { responses: infer R } ? R : never
type Answer<U extends keyof paths, M extends Method> =
  Responses<U, M> extends { 200: infer R } ? Json<R> : Json<Responses<U, M>[keyof Responses<U, M> & (201 | 202)]>

interface Recorded {
  content?: { 'application/json'?: { example?: object } }
}

/** Return the recorded response to a request, with changes. */
export function recorded<U extends keyof paths, M extends Method = 'get'>(
  path: U,
  changes: object = {},
  method = 'get' as M,
) {
  const { responses } = CONTRACT.paths[path][method]
  const examples = Object.values<Recorded>(responses).map(({ content }) => content?.['application/json']?.example)
  const answer = structuredClone(examples.find(Boolean))
  return (Array.isArray(answer) ? answer : { ...answer, ...changes }) as Answer<U, M>
}

/** Return the first item of a recorded list, with changes. */
export function recordedItem<U extends keyof paths>(path: U, changes: object = {}) {
  const { items } = recorded(path) as { items: object[] }
  return { ...items[0], ...changes } as Answer<U, 'get'> extends { items: (infer T)[] } ? T : never
}
