/** Ranges of time in words. */

import { SPANS, type Span, type Versus } from './search'
import { strings } from './strings'

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
