/** Ranges of time in words. */

import { SPANS, type Span, type Versus } from './search'

const SPAN_NAMES: Record<Span, string> = {
  '5m': 'Last 5 minutes',
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

export const SPAN_OPTIONS = (Object.keys(SPANS) as Span[]).map((value) => ({ value, label: SPAN_NAMES[value] }))

export const VERSUS_OPTIONS: { value: Versus; label: string }[] = [
  { value: 'before', label: 'the time just before' },
  { value: 'day', label: 'a day earlier' },
  { value: 'week', label: 'a week earlier' },
]
