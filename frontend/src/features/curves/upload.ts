/** The lines of a pasted table that an error of the API refers to. */

import type { FieldError } from '~/lib/problem'

export interface LineError {
  /** Counted from 1; null when the message is about the whole table. */
  line: number | null
  message: string
}

/** Return the lines the API reads: neither empty nor a comment. */
function counted(text: string): number[] {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => (line.trim() === '' || line.startsWith('#') ? [] : [i + 1]))
}

/** Most rows of a table that the API takes. */
export const ROWS_MAX = 100_000

/** Return the number of rows of a table without its header; 0 for JSON, whose rows the API counts. */
export function rowsOf(text: string): number {
  return /^\s*[{[]/.test(text) ? 0 : Math.max(counted(text).length - 1, 0)
}

/** Return the line of a JSON pointer such as `#/rows/3/performance` or `#/header`, or null. */
export function lineOf(text: string, pointer: string): number | null {
  if (/^\s*[{[]/.test(text)) return null
  const row = /^#\/rows\/(\d+)/.exec(pointer)?.[1]
  const place = row !== undefined ? Number(row) + 1 : pointer === '#/header' ? 0 : null
  return place === null ? null : (counted(text)[place] ?? null)
}

/** Names of errors that are about the table. */
export const OF_TABLE = /^(rows|header|csv)\b|^$/

/** Return errors of a table, each with its line; the message does not repeat the line number. */
export function lineErrors(text: string, errors: FieldError[]): LineError[] {
  return errors.map(({ pointer, message }) => ({
    line: lineOf(text, pointer),
    message: message.replace(/^line \d+(, [^:]+)?: /, (_, column?: string) => (column ? `${column.slice(2)}: ` : '')),
  }))
}

/** First and last character of a line, to select it; [0, 0] when there is no such line. */
export function extent(text: string, line: number): [number, number] {
  const lines = text.split('\n')
  if (line < 1 || line > lines.length) return [0, 0]
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
  return [start, start + (lines[line - 1] as string).length]
}
