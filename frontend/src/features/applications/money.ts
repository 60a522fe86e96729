import { NO_VALUE } from '~/lib/units'

/** Format a price of `count` things; a dash without one. */
export const money = (value: number | null, count = 1) =>
  value === null ? NO_VALUE : value === 0 ? '±0' : (value * count).toFixed(4)
