/** The forecast of a token bucket in words. */

import { formatBitRate, formatDecimalBytes, formatWait } from './traffic'

const strings = {
  levels: {
    empty: 'Empty: traffic is held to the rate',
    full: 'Full',
    draining: 'Draining',
    filling: 'Filling',
    steady: 'Steady',
  },
  emptyIn: (time: string) => `Empty in ${time} at this rate`,
  fullIn: (time: string) => `Full in ${time} at this rate`,
  tokensOf: (left: string, depth: string, share: string) => `${left} of ${depth} (${share})`,
  useAgainst: (use: string, rate: string) => `${use}, rate ${rate}`,
}

/** Empty within this time, a bucket asks for attention. */
const SOON_S = 600

interface Bucket {
  rate_mbit: number
  burst_kb: number
}

interface Forecast {
  use_mbit: number
  level: keyof typeof strings.levels
  tokens_kb: number
  empty_in_s: number | null
  full_in_s: number | null
}

/** "Draining. Empty in 40 s at this rate" */
export function forecastWords({ level, empty_in_s: emptyIn, full_in_s: fullIn }: Forecast): string {
  const words = strings.levels[level]
  if (emptyIn !== null && emptyIn > 0) return `${words}. ${strings.emptyIn(formatWait(emptyIn))}`
  return fullIn !== null && fullIn > 0 ? `${words}. ${strings.fullIn(formatWait(fullIn))}` : words
}

/** "24.0 MB of 100 MB (24 %)" */
export function tokensWords({ burst_kb: depth }: Bucket, { tokens_kb: left }: Forecast): string {
  const share = `${Math.round((100 * left) / depth)} %`
  return strings.tokensOf(formatDecimalBytes(left * 1e3), formatDecimalBytes(depth * 1e3), share)
}

/** "120 Mbit/s, rate 100 Mbit/s" */
export const usedWords = ({ rate_mbit: rate }: Bucket, { use_mbit: use }: Forecast): string =>
  strings.useAgainst(formatBitRate(use * 1e6), formatBitRate(rate * 1e6))

/** Return true if a bucket is empty or soon will be. */
export const needsAttention = ({ empty_in_s: emptyIn }: Forecast): boolean => emptyIn !== null && emptyIn <= SOON_S
