/** Where in a pasted table an answer of the API points to. */

import type { FieldError } from '~/lib/problem'

export interface LineError {
  /** Counted from 1; null when the message is about the whole table. */
  line: number | null
  message: string
}

/** Lines that count, as the API reads them: neither empty nor a comment. */
function counted(text: string): number[] {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => (line.trim() === '' || line.startsWith('#') ? [] : [i + 1]))
}

/** The line a JSON pointer such as `#/rows/3/performance` or `#/header` means, or null. */
export function lineOf(text: string, pointer: string): number | null {
  if (/^\s*[{[]/.test(text)) return null
  const row = /^#\/rows\/(\d+)/.exec(pointer)?.[1]
  const place = row !== undefined ? Number(row) + 1 : pointer === '#/header' ? 0 : null
  return place === null ? null : (counted(text)[place] ?? null)
}

/** The errors of a table, each at its line; the number of the line is not said twice. */
export function lineErrors(text: string, errors: FieldError[]): LineError[] {
  return errors
    .filter(({ pointer }) => /^#(\/(rows|header|csv|baseline)\b|$)/.test(pointer))
    .map(({ pointer, message }) => ({
      line: lineOf(text, pointer),
      message: message.replace(/^line \d+(, [^:]+)?: /, (_, column?: string) => (column ? `${column.slice(2)}: ` : '')),
    }))
}

/** First and last character of a line, to select it; [0, 0] when there is no such line. */
export function extent(text: string, line: number): [number, number] {
  const lines = text.split('\n')
  if (line < 1 || line > lines.length) return [0, 0]
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
  return [start, start + (lines[line - 1] as string).length]
}
