/** Ranges of time, and their names. */

import { strings } from './strings'

export const RANGES = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const
/** Ranges of merged windows, in seconds before now. */
export const SPANS = { '5m': 300, ...RANGES, '7d': 604_800, '30d': 2_592_000 } as const
/** Offsets of the period a range is compared with, in seconds; `before` is the period just before it. */
export const VERSUS = { before: 0, day: 86_400, week: 604_800 } as const

export type Range = keyof typeof RANGES
export type Span = keyof typeof SPANS
export type Versus = keyof typeof VERSUS

const SPAN_NAMES: Record<Span, string> = {
  '5m': strings.last5Minutes,
  '15m': strings.last15Minutes,
  '1h': strings.lastHour,
  '6h': strings.last6Hours,
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

/** A range that ends now or at a given time, as the API takes it. */
export function rangeOf(span: Span, until: string | undefined): { from: string; to: string } {
  const end = until ? Date.parse(until) : Date.now()
  return { from: new Date(end - SPANS[span] * 1_000).toISOString(), to: new Date(end).toISOString() }
}

/** The range another one is compared with. */
export function baseOf(
  { from, to }: { from: string; to: string },
  versus: Versus,
): { base_from: string; base_to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const shift = versus === 'before' ? end - start : VERSUS[versus] * 1_000
  return { base_from: new Date(start - shift).toISOString(), base_to: new Date(end - shift).toISOString() }
}
