/** Format of prices. */

import { NO_VALUE, threeDigits } from './units'

/** Format an amount with its currency, if known: 0.0833 → "0.0833 USD". */
export function money(amount: number | null | undefined, currency: string | null): string {
  if (amount == null || !Number.isFinite(amount)) return NO_VALUE
  const digits = amount >= 100 ? amount.toFixed(2) : threeDigits(amount)
  return currency ? `${digits} ${currency}` : digits
}
