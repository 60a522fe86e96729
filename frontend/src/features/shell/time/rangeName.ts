import { isMoving, rangeOf, SPAN_OPTIONS, type TimeSearch, VERSUS_OPTIONS } from '~/lib/spans'
import { type Clock, formatMinute, formatRange } from '~/lib/time'
import { strings } from '../strings'
import type { PageTime } from './steps'

/** Name the time of a page: "Last hour", "Newest windows", "20 Nov 2026, 23:10 – 23:40 UTC, vs previous day". */
export function rangeName(time: TimeSearch, page: PageTime, clock: Clock): string {
  const range = nameOf(time, page, clock)
  const versus = page.compares && VERSUS_OPTIONS.find(({ value }) => value === time.versus)
  return versus ? strings.comparedWith(range, versus.label) : range
}

function nameOf(time: TimeSearch, page: PageTime, clock: Clock): string {
  if (isMoving(time)) {
    if (!time.span && !time.versus && page.isLive) return strings.newestWindows
    const span = time.span ?? page.span
    return SPAN_OPTIONS.find(({ value }) => value === span)?.label ?? span
  }
  const { from, to } = rangeOf(time, page.span)
  return formatRange(new Date(from), new Date(to), clock, formatMinute)
}
