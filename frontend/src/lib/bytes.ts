/** Quantities of bytes as text. */

import { threeDigits } from './units'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Format bytes with a binary prefix: 8_148_003_839_995 → "7.41 TiB". */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return `${threeDigits(bytes / 1024 ** power)} ${UNITS[power]}`
}
