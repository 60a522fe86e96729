/** Times as people type them: "2026-11-20 23:10", RFC 3339, "now", "now-2h". */

import type { Clock } from './time'

const PLAIN = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/
const RELATIVE = /^now(?:\s*[-−]\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w))?$/i
const SECONDS = { s: 1, m: 60, min: 60, h: 3_600, d: 86_400, w: 604_800 }

/** Return the Unix time (ms) of a text, in the reader's zone or UTC where it names none; undefined if it is no time. */
export function parseMoment(text: string, clock: Clock, now = Date.now()): number | undefined {
  const typed = text.trim()
  const relative = RELATIVE.exec(typed)
  if (relative) {
    const unit = (relative[2] ?? 's').toLowerCase() as keyof typeof SECONDS
    return now - Number(relative[1] ?? 0) * SECONDS[unit] * 1_000
  }
  const plain = PLAIN.exec(typed)
  if (!plain) return /[zZ]$|[+-]\d\d:\d\d$/.test(typed) ? known(Date.parse(typed)) : undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = plain
    .slice(1)
    .map((part) => Number(part ?? 0))
  const isValid =
    month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60
  if (!isValid) return undefined
  return known(
    clock === 'utc'
      ? Date.UTC(year, month - 1, day, hour, minute, second)
      : new Date(year, month - 1, day, hour, minute, second).getTime(),
  )
}

/** Format a time (Unix ms) as it is typed: "2026-11-20 23:10:20"; with its offset in the hour that a clock repeats. */
export function typedMoment(at: number, clock: Clock): string {
  const text = plainMoment(at, clock)
  if (parseMoment(text, clock) === Math.floor(at / 1_000) * 1_000) return text
  const minutes = -new Date(at).getTimezoneOffset()
  const [hour, minute] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) =>
    `${part}`.padStart(2, '0'),
  )
  return `${text.replace(' ', 'T')}${minutes < 0 ? '-' : '+'}${hour}:${minute}`
}

function plainMoment(at: number, clock: Clock): string {
  const shifted = clock === 'utc' ? at : at - new Date(at).getTimezoneOffset() * 60_000
  return new Date(shifted).toISOString().slice(0, 19).replace('T', ' ')
}

/** Format a time as the browser's field takes it, in the reader's zone or UTC: "2026-11-20T23:10:20"; empty for none. */
export const fieldOf = (at: string | null | undefined, clock: Clock) =>
  at ? plainMoment(Date.parse(at), clock).replace(' ', 'T') : ''

/**
 * Return the time of a browser's field, RFC 3339; undefined for an empty one. A field as `known` filled it means that
 * time: its text lacks fractions of a second, and which of the two hours of a clock change it is.
 */
export function momentOf(field: string, clock: Clock, known?: string | null): string | undefined {
  if (known && field === fieldOf(known, clock)) return known
  const at = parseMoment(field.replace('T', ' '), clock)
  return at === undefined ? undefined : new Date(at).toISOString()
}

const daysIn = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

const known = (at: number) => (Number.isNaN(at) ? undefined : at)
