/** The number of times a rule fires in a series of windows. */
import { strings } from '../strings'

export const firings = (firing: readonly boolean[]): number => firing.filter((now, at) => now && !firing[at - 1]).length

/** "It would have fired twice." */
export function firingWords(times: number): string {
  if (times === 0) return strings.noFiring
  return strings.firingTimes(times === 1 ? strings.once : times === 2 ? strings.twice : strings.times(times))
}
