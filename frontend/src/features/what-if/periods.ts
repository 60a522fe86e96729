/** Periods whose measurements the what-if page predicts from. */

import { lookBack } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { LOOK_BACKS } from './search'
import { strings } from './strings'

/** Name a look-back; null is the newest window of each path. */
export const periodName = (minutes: number | null) =>
  minutes === null ? strings.newestWindows : strings.meanOf(lookBack(minutes))

/** Return the options of the look-back; a saved scenario may have another one. */
export function periodOptions(minutes: number | null) {
  const known = minutes === null || LOOK_BACKS.includes(minutes) ? LOOK_BACKS : [...LOOK_BACKS, minutes]
  return [null, ...known].map((value) => ({ value: String(value ?? ''), label: sentenceCase(periodName(value)) }))
}
