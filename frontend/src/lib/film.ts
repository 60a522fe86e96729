/** The film of a heatmap: steps of equal length that end on whole multiples of it. Times are Unix milliseconds. */

/** Ranges of a film, and the length of its steps. */
export const FILMS = {
  '1h': { range_s: 3_600, step_s: 60 },
  '6h': { range_s: 21_600, step_s: 300 },
  '24h': { range_s: 86_400, step_s: 900 },
} as const
export type Film = keyof typeof FILMS

/** The ends of the first and the last step, and their number. */
export interface Track {
  first: number
  last: number
  step_ms: number
  steps: number
}

/**
 * Return the steps of a film that ends now. The last step has ended `settle_ms` ago, so that its windows have
 * arrived. An older step `at` is in the middle of its film.
 */
export function trackOf(film: Film, now: number, at: number | null, settle_ms = 30_000): Track {
  const { range_s, step_s } = FILMS[film]
  const step_ms = step_s * 1_000
  const steps = range_s / step_s
  const newest = Math.floor((now - settle_ms) / step_ms) * step_ms
  const oldest = newest - (steps - 1) * step_ms
  const isOlder = at !== null && stepEnd(at, step_ms) < oldest
  const last = isOlder ? stepEnd(at, step_ms) + Math.floor(steps / 2) * step_ms : newest
  return { first: last - (steps - 1) * step_ms, last, step_ms, steps }
}

/** Return the range of the step of a moment, as an address holds it. */
export function stepRange(film: Film, at: number): { from: string; until: string } {
  const step_ms = FILMS[film].step_s * 1_000
  const end = stepEnd(at, step_ms)
  return { from: new Date(end - step_ms).toISOString(), until: new Date(end).toISOString() }
}

/** Return the end of the step that contains the moment before `at`. */
export const stepEnd = (at: number, step_ms: number) => Math.ceil(at / step_ms) * step_ms

/** Return the position of a step on a track, from 0; cut to the track. */
export function indexOf({ first, step_ms, steps }: Track, at: number): number {
  return Math.min(steps - 1, Math.max(0, Math.round((stepEnd(at, step_ms) - first) / step_ms)))
}

/** Return the end of the step at a position. */
export const endOf = ({ first, step_ms }: Track, index: number) => first + index * step_ms

/** Return the share of the track at which a time lies; the middle of the first step is 0 and of the last one 1. */
export function shareOf({ first, last, step_ms }: Track, time: number): number {
  const [start, end] = [first - step_ms / 2, last - step_ms / 2]
  return Math.min(1, Math.max(0, (time - start) / (end - start)))
}
