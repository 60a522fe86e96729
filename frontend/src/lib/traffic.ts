/** Rates and amounts of traffic as text, with decimal prefixes. */

import { NO_VALUE, threeDigits } from './units'

const PREFIXES = ['', 'k', 'M', 'G', 'T']

function power(value: number): number {
  // Judge the rounded value, so that 999 999 bit/s reads "1.00 Mbit/s".
  const size = Number(Math.abs(value).toPrecision(3))
  return size < 1 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(size) / 3))
}

function withPrefix(value: number, unit: string): string {
  const at = power(value)
  return `${threeDigits(value / 1000 ** at)} ${PREFIXES[at]}${unit}`
}

/** Format a rate: 12_500_000 → "12.5 Mbit/s". */
export function formatBitRate(bitPerS: number | null | undefined): string {
  return bitPerS == null ? NO_VALUE : withPrefix(bitPerS, 'bit/s')
}

/** Format bytes: 12_500_000 → "12.5 MB". */
export const formatDecimalBytes = (bytes: number): string => withPrefix(bytes, 'B')

/** Format the ticks of an axis of rates, in the unit of the largest. */
export function bitRateTicks(values: number[]): string[] {
  const at = power(Math.max(...values.map(Math.abs), 0))
  return values.map((value) => `${Number((value / 1000 ** at).toPrecision(6))} ${PREFIXES[at]}bit/s`)
}

/** Format seconds for a forecast: 40 → "40 s", 750 → "13 min", 8000 → "2.2 h". */
export function formatWait(s: number): string {
  if (s < 120) return `${s < 10 ? threeDigits(s) : Math.round(s)} s`
  if (s < 7200) return `${Math.round(s / 60)} min`
  return s < 172_800 ? `${Number((s / 3600).toPrecision(2))} h` : `${Math.round(s / 86_400)} days`
}
