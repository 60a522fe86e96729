/** Recorded responses of the API, so that a page shows the same data each time. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = join(import.meta.dirname, '../recording/answers.json')

/** Path of the OpenAPI document: not recorded, since the repository has it. */
export const CONTRACT = '/v1/openapi.json'

export interface Answer {
  status: number
  type: string
  /** A JSON value, or bytes in base64. */
  body?: unknown
  bytes?: string
}

export interface Recording {
  /** The mocked time of the pages, in milliseconds since 1970. */
  now: number
  /** Addresses of the pages, by name. */
  pages: Record<string, string>
  /** Responses by request: see `keyOf`. */
  answers: Record<string, Answer>
}

export function loadRecording(): Recording {
  if (!existsSync(FILE)) throw new Error(`There is no recording (${FILE}): make recording`)
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/** Store a recording, one response per line; `replacements` replace names of the recording machine. */
export function saveRecording({ now, pages, answers }: Recording, replacements: [string, string][]) {
  const lines = Object.entries(answers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, answer]) => `    ${JSON.stringify(key)}: ${JSON.stringify(answer)}`)
  const parts = [`  "now": ${now}`, `  "pages": ${JSON.stringify(pages)}`, `  "answers": {\n${lines.join(',\n')}\n  }`]
  const text = replacements.reduce((all, [old, fresh]) => all.replaceAll(old, fresh), `{\n${parts.join(',\n')}\n}\n`)
  writeFileSync(FILE, text)
}

/** Name a request: method, path, sorted query and body. */
export function keyOf(method: string, url: string, body: string): string {
  const { pathname, searchParams } = new URL(url, 'http://sinemora.example')
  searchParams.sort()
  return [method, `${pathname}${searchParams.size > 0 ? `?${searchParams}` : ''}`, body].join(' ').trim()
}
