/** Names and numbers of a study's outcomes. */

import type { TailStudy } from '~/api/types'
import { formatDelay, NO_VALUE, threeDigits } from '~/lib/units'
import { ALPHA_MAX } from './question'
import { strings } from './strings'

export type PolicyOutcome = TailStudy['outcomes'][number]
export type Search = TailStudy['searches'][number]

/** Return the name of an outcome: its policy, and the number of its classes. */
export const nameOf = ({ policy, classes }: PolicyOutcome): string =>
  classes === null ? strings.names[policy] : strings.classed(strings.names[policy], classes)

export function showAlpha(alpha: number | null): string {
  if (alpha === null) return NO_VALUE
  return alpha >= ALPHA_MAX ? strings.infinity : threeDigits(alpha)
}

/** Ends of the axis of α: 0 and infinity stand beyond what is searched. */
export const ALPHA_AXIS = [-4, 4] as const

/** Return the place of α on its axis, which is logarithmic. */
export function placeOfAlpha(alpha: number): number {
  const [zero, infinity] = ALPHA_AXIS
  if (alpha <= 0) return zero
  return Math.max(zero, Math.min(infinity, Math.log10(alpha)))
}

/** Return the label of a place on the axis of α. */
export function labelOfPlace(place: number): string {
  const [zero, infinity] = ALPHA_AXIS
  if (place <= zero) return '0'
  return place >= infinity ? strings.infinity : threeDigits(10 ** place)
}

export const seconds = (value: number) => formatDelay(1e9 * value)
