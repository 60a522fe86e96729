/** Search parameters of addresses. Each page declares a schema; invalid values are dropped, defaults left out. */

import * as v from 'valibot'
import { SPANS, type TimeSearch, VERSUS } from './spans'
import type { Clock } from './time'

export type Raw = Record<string, unknown>

/** A change of a search; undefined resets a parameter to its default. */
export type Patch<T> = { [K in keyof T]?: T[K] | undefined }

type Schemas<T> = { [K in keyof T]-?: v.GenericSchema<unknown, T[K]> }

/** Return the parser of a page's search: it keeps what its schema accepts and is not the default. */
export function searchParser<T extends object>(schemas: Schemas<T>, defaults: Partial<T> = {}): (raw: Raw) => T {
  const names = Object.keys(schemas) as (keyof T & string)[]
  return (raw) => {
    const search: Partial<T> = {}
    for (const name of names) {
      const { success, output } = v.safeParse(schemas[name], raw[name])
      if (success && output !== undefined && output !== defaults[name]) search[name] = output
    }
    return search as T
  }
}

/** One of the keys of an object. */
export const keyOf = <T extends object>(values: T) => v.picklist(Object.keys(values) as (keyof T & string)[])

/** Exactly `true`: a switch that is off is left out. */
export const flag = v.literal(true)

/** A time, as RFC 3339. */
export const moment = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
  v.transform((text) => new Date(text).toISOString()),
)

/** A number of at least `least`, which an address may carry as text. */
export const number = (least: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.trim(), v.nonEmpty(), v.transform(Number))]),
    v.finite(),
    v.minValue(least),
  )

/** An integer of at least `least`. */
export const integer = (least: number) => v.pipe(number(least), v.integer())

/** An id or a name without spaces. */
export const identifier = v.pipe(v.string(), v.regex(/^[\w-]+$/))

/** Comma-separated finite numbers of a fixed length, or nothing. */
export function numbers(value: unknown, length: number): number[] | undefined {
  if (typeof value !== 'string') return undefined
  const parts = value.split(',')
  const parsed = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  return parsed.length === length && parsed.every(Number.isFinite) ? parsed : undefined
}

/** Comma-separated numbers of a fixed length that satisfy a condition, as text. */
export const numberList = (length: number, isValid: (values: number[]) => boolean = () => true) =>
  v.pipe(
    v.string(),
    v.transform((text) => numbers(text, length)),
    v.check((values) => values !== undefined && isValid(values)),
    v.transform((values) => values?.join(',')),
  )

/** More than this many lines in one chart cannot be distinguished. */
export const COMPARED_MAX = 6

/** The list of a page. `sort` is the key of a column, after a minus if descending; `page` counts from 1. */
export interface ListSearch {
  q?: string
  /** The choices of filters, by the key of their column. */
  where?: Record<string, string>
  sort?: string
  page?: number
}

/** Parameters of every signed-in page. */
export interface AppSearch extends ListSearch, TimeSearch {
  /** Time zone in which times are shown. */
  tz?: Clock
  /** A wall screen: pages without navigation. */
  kiosk?: boolean
}

export const appSearch = searchParser<AppSearch>(
  {
    tz: v.picklist(['local', 'utc']),
    // The router reads an address's digits as a number.
    q: v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty(), v.maxLength(200)),
    where: v.record(v.pipe(v.string(), v.regex(/^[a-z_]{1,40}$/)), v.pipe(v.string(), v.maxLength(200))),
    sort: v.pipe(v.string(), v.regex(/^-?[a-z_]{1,40}$/)),
    page: integer(1),
    span: keyOf(SPANS),
    from: moment,
    until: moment,
    versus: keyOf(VERSUS),
    kiosk: flag,
  },
  { tz: 'local', page: 1 },
)

/** Parameters that go along with every link which does not set them: time zone, time of the page, wall screen. */
export const RETAINED = ['tz', 'span', 'from', 'until', 'versus', 'kiosk'] as const satisfies (keyof AppSearch)[]
