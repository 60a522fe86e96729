/** Steps from one time of a page to another. */

import { rangeOf, SPANS, type Span, secondsOf, type TimeSearch } from '~/lib/spans'

/** The time that a page has by itself. */
export interface PageTime {
  /** The length of its range where the address names none. */
  span: Span
  /** Without a range, the page shows the newest windows. */
  isLive?: boolean
  /** The page can compare its range with an earlier one. */
  compares?: boolean
}

/** Return the range of the same length before or after this one; one that would end in the future follows the clock. */
export function shift(time: TimeSearch, page: PageTime, direction: -1 | 1, now = Date.now()): TimeSearch {
  const { end, length } = extentOf(time, page, now)
  const next = end + direction * length
  return next >= now ? follow(time, page, now) : fixed(time, next - length, next)
}

/** Return the range of twice the length around the middle of this one, no later than now. */
export function zoomOut(time: TimeSearch, page: PageTime, now = Date.now()): TimeSearch {
  const { end, length } = extentOf(time, page, now)
  const next = Math.min(end + length / 2, Math.max(now, end))
  return fixed(time, next - 2 * length, next)
}

/** Return the range as it is at `now`, fixed there. */
export function pause(time: TimeSearch, page: PageTime, now = Date.now()): TimeSearch {
  const { end, length } = extentOf(time, page, now)
  return fixed(time, end - length, end)
}

/** Return the newest range of about the same length, which moves with the clock. */
export function follow(time: TimeSearch, page: PageTime, now = Date.now()): TimeSearch {
  const { length } = extentOf(time, page, now)
  const span = time.from ? nearestSpan(length / 1_000) : time.span
  return { ...comparison(time), ...(span && !(page.isLive && span === page.span) && { span }) }
}

function extentOf(time: TimeSearch, { span }: PageTime, now: number): { end: number; length: number } {
  const range = rangeOf(time, span, now)
  return { end: Date.parse(range.to), length: secondsOf(range) * 1_000 }
}

function nearestSpan(seconds: number): Span {
  const distance = (span: Span) => Math.abs(Math.log(SPANS[span] / seconds))
  return (Object.keys(SPANS) as Span[]).reduce((best, span) => (distance(span) < distance(best) ? span : best))
}

const comparison = ({ versus }: TimeSearch): TimeSearch => (versus ? { versus } : {})

const fixed = (time: TimeSearch, start: number, end: number): TimeSearch => ({
  ...comparison(time),
  from: new Date(start).toISOString(),
  until: new Date(end).toISOString(),
})
