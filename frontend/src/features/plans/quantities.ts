/** Quantities of a probe plan as text. */

import type { StrategyPreview } from '~/api/types'
import { threeDigits } from '~/lib/units'
import { strings } from './strings'

const MONTH_DAYS = 30

/** Format the price of thirty days. */
export function formatPrice(usdPerDay: number | null): string {
  return usdPerDay === null ? strings.unknownPrice : strings.usd((usdPerDay * MONTH_DAYS).toFixed(2))
}

/** Format the time until a fault is detected, in windows of `windowS` seconds. */
export function formatDetection(detection: StrategyPreview['detection']['path'], windowS: number): string {
  const { p90_windows: p90, worst_windows: worst, never } = detection
  const rest = never > 0 ? strings.never(`${threeDigits(never * 100)} %`) : null
  if (p90 === null || worst === null) return rest ?? '–'
  const times = strings.detection(strings.seconds(p90 * windowS), strings.seconds(worst * windowS))
  return rest ? `${times}; ${rest}` : times
}
