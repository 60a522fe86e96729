/** Times as people read them. The zone is chosen once, in the address, and always written next to the time. */

export type Clock = 'local' | 'utc'

const formats = new Map<string, Intl.DateTimeFormat>()

function format(clock: Clock, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = clock + JSON.stringify(options)
  let known = formats.get(key)
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', {
      ...options,
      hourCycle: 'h23',
      ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
    })
    formats.set(key, known)
  }
  return known
}

const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }
const MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' }
const SHORT_DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }
const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' }

/** Return the Unix time (ms) of an RFC 3339 text; null without one. */
export const timeOf = (at: string | null | undefined): number | null => (at ? Date.parse(at) : null)

/** "23:10:20" */
export const formatTime = (at: Date, clock: Clock) => format(clock, TIME).format(at)

/** "23:10" */
export const formatMinute = (at: Date, clock: Clock) => format(clock, MINUTE).format(at)

/** "20 Nov 2026" */
export const formatDay = (at: Date, clock: Clock) => format(clock, DAY).format(at)

/** "20 Nov 2026, 23:10:20 UTC" */
export const formatMoment = (at: Date, clock: Clock) =>
  `${formatDay(at, clock)}, ${formatTime(at, clock)} ${zoneName(clock, at)}`

/** "UTC", or the offset of the reader: "UTC+1", "UTC−3:30". */
export function zoneName(clock: Clock, at: Date): string {
  const minutes = clock === 'utc' ? 0 : -at.getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const hours = Math.trunc(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`
}

/** Name the zone of times that are typed, whose offset depends on the day: "UTC", "America/St_Johns". */
export const typedZone = (clock: Clock): string =>
  clock === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone

const DAY_MS = 86_400_000

/** Format a time less than a day from `now` as "10:42 UTC", another one with its day. */
export function formatShortMoment(at: string, clock: Clock, now: number): string {
  const date = new Date(at)
  const time = `${formatMinute(date, clock)} ${zoneName(clock, date)}`
  return Math.abs(now - date.getTime()) < DAY_MS ? time : `${formatDay(date, clock)}, ${time}`
}

/**
 * Format a range: "20 Nov 2026, 23:10:20 – 23:10:30 UTC". The day stands once if both ends have it, and the offset once
 * unless clocks were changed in between. `time` formats the times of day.
 */
export function formatRange(from: Date, to: Date, clock: Clock, time = formatTime): string {
  const [first, last] = [formatDay(from, clock), formatDay(to, clock)]
  return `${first}, ${endsOf(from, to, clock, time, first === last ? '' : `${last}, `)}`
}

/** Format a window of any day: "23:10:20 – 23:10:30 UTC", with the days where they are not that of `now`. */
export function formatMoments(from: Date, to: Date, clock: Clock, now = Date.now(), time = formatTime): string {
  const today = formatDay(new Date(now), clock)
  const isToday = formatDay(from, clock) === today && formatDay(to, clock) === today
  return isToday ? endsOf(from, to, clock, time) : formatRange(from, to, clock, time)
}

/**
 * Name the ticks of a time axis, `step_ms` apart: "23:10", with the day where it is not that of the tick before, and at
 * the first tick where it is not that of `now`.
 */
export function tickNames(moments: readonly Date[], step_ms: number, clock: Clock, now = Date.now()): string[] {
  if (step_ms >= DAY_MS) return moments.map((at) => formatDay(at, clock))
  const time = step_ms < 60_000 ? formatTime : formatMinute
  let day = formatDay(new Date(now), clock)
  return moments.map((at) => {
    const before = day
    day = formatDay(at, clock)
    return day === before ? time(at, clock) : `${format(clock, SHORT_DAY).format(at)}, ${time(at, clock)}`
  })
}

function endsOf(from: Date, to: Date, clock: Clock, time: typeof formatTime, day = ''): string {
  const [before, after] = [zoneName(clock, from), zoneName(clock, to)]
  return `${time(from, clock)}${before === after ? '' : ` ${before}`} – ${day}${time(to, clock)} ${after}`
}

/** Format an age: "8 s", "3 min", "2 h", "5 d"; never negative. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
