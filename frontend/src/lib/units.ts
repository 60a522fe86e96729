/** Formats of quantities: SI prefixes, three significant digits, exact values where there is room. */

export const NO_VALUE = '–'

/** Between groups of digits: narrow, and no place to break a line. */
const GROUP_SPACE = '\u202f'

interface Scale {
  unit: string
  factor: number
}

const DELAY_SCALES: readonly Scale[] = [
  { unit: 's', factor: 1e9 },
  { unit: 'ms', factor: 1e6 },
  { unit: 'µs', factor: 1e3 },
  { unit: 'ns', factor: 1 },
]

/** Three significant digits without an exponent: 84.23 → "84.2", 1390 → "1390", 0.5 → "0.5". */
export function threeDigits(value: number): string {
  if (value === 0) return '0'
  const magnitude = Math.floor(Math.log10(Math.abs(value)))
  const rounded = Number(value.toPrecision(3))
  return rounded.toFixed(Math.max(0, 2 - Math.max(magnitude, Math.floor(Math.log10(Math.abs(rounded))))))
}

function scaleOf(ns: number): Scale {
  // Judge the rounded value, so that 999 999 ns reads "1.00 ms" and not "1000 µs".
  const size = Number(Math.abs(ns).toPrecision(3))
  return DELAY_SCALES.find((scale) => size >= scale.factor) ?? { unit: 'ns', factor: 1 }
}

/** Format a delay for reading: 84_213 → "84.2 µs"; a minus is a true minus sign. */
export function formatDelay(ns: number | null | undefined): string {
  if (ns == null || !Number.isFinite(ns)) return NO_VALUE
  const { unit, factor } = scaleOf(ns)
  return `${ns < 0 ? '−' : ''}${threeDigits(Math.abs(ns) / factor)} ${unit}`
}

/** Format a round trip; without a network there is none. */
export function formatTrip(ns: number | null | undefined): string {
  return ns === 0 ? 'same VM' : formatDelay(ns)
}

/** Format as `formatDelay` does, with the sign always written: asymmetry. */
export function formatSignedDelay(ns: number | null | undefined): string {
  return ns != null && ns > 0 ? `+${formatDelay(ns)}` : formatDelay(ns)
}

/** Format a bound in either direction: 2_500 → "± 2.50 µs". */
export function formatBound(ns: number | null | undefined): string {
  const size = formatDelay(ns)
  return size === NO_VALUE ? NO_VALUE : `± ${size}`
}

/** Format the exact number of nanoseconds, in groups of three: "84 213 ns". */
export function formatExact(ns: number | null | undefined): string {
  return ns == null || !Number.isFinite(ns) ? NO_VALUE : `${groups(Math.round(ns))} ns`
}

/** Format a ratio of lost to sent: 0 → "0 %", 0.00031 → "0.0310 %". */
export function formatRatio(ratio: number | null | undefined): string {
  return ratio == null || !Number.isFinite(ratio) ? NO_VALUE : `${threeDigits(ratio * 100)} %`
}

/** Format a share in whole percent: 0.481 → "48 %". */
export const formatWhole = (share: number) => `${Math.round(share * 100)} %`

/** Format the ticks of an axis of ratios: (0, 0.0125) → "0 %", "1.25 %". */
export const ratioTicks = (ratios: number[]) => ratios.map((ratio) => `${Number((ratio * 100).toPrecision(3))} %`)

/** Format a change of a ratio, with its sign, in points of a percent: 0.001 → "+0.100 %". */
export function formatSignedRatio(ratio: number | null | undefined): string {
  return signed(ratio, formatRatio)
}

/** Format a change in percent, with its sign: 12.34 → "+12.3 %". */
export function formatSignedPercent(percent: number | null | undefined): string {
  return signed(percent, (value) => `${threeDigits(value)} %`)
}

function signed(value: number | null | undefined, format: (value: number) => string): string {
  if (value == null || !Number.isFinite(value)) return NO_VALUE
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`
}

/** Return the share lost of what was sent; `null` when either is not known or nothing was sent. */
export function lossRatio({ sent, lost }: { sent: number | null; lost: number | null }): number | null {
  return sent === null || lost === null || sent <= 0 ? null : lost / sent
}

/** Format a whole number in groups of three: 3600 → "3 600". */
export function formatCount(count: number | null | undefined): string {
  return count == null ? NO_VALUE : groups(count)
}

function groups(whole: number): string {
  const digits = String(Math.abs(whole)).replace(/\B(?=(\d{3})+$)/g, GROUP_SPACE)
  return whole < 0 ? `−${digits}` : digits
}

/** Ticks share one unit, so that a scale reads evenly: (20 000, 50 000) → "20", "50" and "µs". */
export function commonDelayUnit(largestNs: number): { unit: string; divide: (ns: number) => number } {
  const { unit, factor } = scaleOf(largestNs)
  return { unit, divide: (ns) => ns / factor }
}
