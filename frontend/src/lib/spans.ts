/** Ranges of time, as addresses hold them and as the API takes them. */

import { strings } from './strings'

/** Lengths of ranges, in seconds. */
export const SPANS = {
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '3h': 10_800,
  '6h': 21_600,
  '12h': 43_200,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
} as const
/** Offsets of the period a range is compared with, in seconds; `before` is the period just before it. */
export const VERSUS = { before: 0, day: 86_400, week: 604_800 } as const

export type Span = keyof typeof SPANS
export type Versus = keyof typeof VERSUS

/** The time of a page. Without `span` and `from`, each page has its own. */
export interface TimeSearch {
  /** The length of a range that ends at `until`. */
  span?: Span
  /** The start of a range, RFC 3339, in place of `span`. */
  from?: string
  /** The end of the range, RFC 3339; now when absent. */
  until?: string
  /** The earlier period that the range is compared with. */
  versus?: Versus
}

/** From `from` up to `to`, both RFC 3339. */
export interface TimeRange {
  from: string
  to: string
}

const SPAN_NAMES: Record<Span, string> = {
  '5m': strings.last5Minutes,
  '15m': strings.last15Minutes,
  '1h': strings.lastHour,
  '3h': strings.last3Hours,
  '6h': strings.last6Hours,
  '12h': strings.last12Hours,
  '24h': strings.last24Hours,
  '7d': strings.last7Days,
  '30d': strings.last30Days,
}

export const SPAN_OPTIONS = (Object.keys(SPANS) as Span[]).map((value) => ({ value, label: SPAN_NAMES[value] }))

export const VERSUS_OPTIONS: { value: Versus; label: string }[] = [
  { value: 'before', label: strings.previousPeriod },
  { value: 'day', label: strings.previousDay },
  { value: 'week', label: strings.lastWeek },
]

/**
 * The time of a link to the newest measurements. The router keeps the parameters that a link does not set; undefined
 * removes them, although the type of an optional parameter excludes it.
 */
export const NOW = { span: undefined, from: undefined, until: undefined, versus: undefined } as object as TimeSearch

/** Return the times that an address holds; none of its other parameters. */
export const timeIn = ({ span, from, until, versus }: TimeSearch): TimeSearch => ({
  ...(span && { span }),
  ...(from && { from }),
  ...(until && { until }),
  ...(versus && { versus }),
})

/** Return true if the range moves with the clock. */
export const isMoving = ({ from, until }: TimeSearch) => !from && !until

/** Return the range that a time means at `now` (Unix ms), `span` long where it has no length. */
export function rangeOf(time: TimeSearch, span: Span, now = Date.now()): TimeRange {
  const end = time.until ? Date.parse(time.until) : now
  const start = time.from ? Date.parse(time.from) : end - SPANS[time.span ?? span] * 1_000
  return written(start < end ? start : end - SPANS[span] * 1_000, end)
}

/** Return the range that another one is compared with. */
export function earlierRange({ from, to }: TimeRange, versus: Versus): TimeRange {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const shift = versus === 'before' ? end - start : VERSUS[versus] * 1_000
  return written(start - shift, end - shift)
}

/** Return the range that another one is compared with, as query parameters. */
export function baseOf(range: TimeRange, versus: Versus): { base_from: string; base_to: string } {
  const { from, to } = earlierRange(range, versus)
  return { base_from: from, base_to: to }
}

/** The hours around one that begins at a time. */
export function aroundHour(hour: string, now: number): { from: string; until: string } {
  const at = Date.parse(hour)
  return {
    from: new Date(at - 2 * 3_600_000).toISOString(),
    until: new Date(Math.min(at + 3 * 3_600_000, now)).toISOString(),
  }
}

/** Return the length of a range in seconds. */
export const secondsOf = ({ from, to }: TimeRange) => (Date.parse(to) - Date.parse(from)) / 1_000

const written = (start: number, end: number): TimeRange => ({
  from: new Date(start).toISOString(),
  to: new Date(end).toISOString(),
})
