/** The hours of the last days, with the worst change in each. */

import { strings } from './strings'
import { type Clock, formatMinute, formatMoments } from './time'
import { formatDelay, formatRatio, formatSignedDelay } from './units'

export const HOUR_MS = 3_600_000

/** An hour: `height` from 0 to 1; without a tone it was not measured. */
export interface Slot {
  /** Unix ms. */
  from: number
  height: number
  tone: 'usual' | 'rise' | 'loss' | null
  words: string
}

export interface Days {
  since: string
  hours: readonly {
    started_at: string
    source: string | null
    target: string | null
    usual_ns: number | null
    change_ns: number | null
    loss: number | null
  }[]
}

/** Return a bar's height: a small change must be seen next to a doubled delay or a tenth of the packets. */
const heightOf = (share: number) => 0.3 + 0.7 * Math.sqrt(Math.min(1, share))

/** Return every hour since the start, until now. */
export function slotsOf({ since, hours }: Days, clock: Clock, now: number): Slot[] {
  const known = new Map(hours.map((hour) => [Date.parse(hour.started_at), hour]))
  const first = Date.parse(since)
  return Array.from({ length: Math.max(1, Math.ceil((now - first) / HOUR_MS)) }, (_, index): Slot => {
    const from = first + index * HOUR_MS
    const times = formatMoments(new Date(from), new Date(from + HOUR_MS), clock, now, formatMinute)
    const hour = known.get(from)
    if (!hour) return { from, height: 0, tone: null, words: `${times}: ${strings.hourUnknown}` }
    const { source, target, usual_ns, change_ns, loss } = hour
    const pair = `${source} → ${target}`
    if (loss !== null) {
      const words = `${times}: ${strings.hourLoss(pair, formatRatio(loss))}`
      return { from, height: heightOf(10 * loss), tone: 'loss', words }
    }
    if (change_ns === null) return { from, height: 0, tone: 'usual', words: `${times}: ${strings.hourUsual}` }
    const words = `${times}: ${strings.hourRise(pair, formatSignedDelay(change_ns), formatDelay(usual_ns))}`
    return { from, height: heightOf(change_ns / Math.max(1, usual_ns ?? 0)), tone: 'rise', words }
  })
}

/** Return the hours around a chosen one that changed too, as a range of Unix ms; of a usual hour that hour alone. */
export function eventAround(slots: readonly Slot[], index: number): [number, number] {
  const isEvent = (at: number) => ['rise', 'loss'].includes(slots[at]?.tone ?? '')
  let [first, last] = [index, index]
  while (isEvent(index) && isEvent(first - 1)) first -= 1
  while (isEvent(index) && isEvent(last + 1)) last += 1
  return rangeOf(slots, first, last)
}

/** Return the range of Unix ms from one hour to another, in either order. */
export function rangeOf(slots: readonly Slot[], one: number, other: number): [number, number] {
  const [first, last] = [slots[Math.min(one, other)], slots[Math.max(one, other)]]
  return [first?.from ?? 0, (last?.from ?? 0) + HOUR_MS]
}
