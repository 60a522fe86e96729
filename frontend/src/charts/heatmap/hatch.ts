/** Hatches, each a tile of coverage, so that cells differ by shape and not by colour alone. */

import { LOOK, type Look } from './grid'

export type Hatch = Exclude<Look, 0>

export const HATCHES: readonly Hatch[] = [
  LOOK.dotted,
  LOOK.lined,
  LOOK.veiled,
  LOOK.crossed,
  LOOK.ruled,
  LOOK.flecked,
  LOOK.barred,
  LOOK.ringed,
]

const PERIOD = 8

/** Coverage of a line of `width` at distance `distance`, with one soft pixel at its edge. */
const line = (distance: number, width: number) => Math.min(1, Math.max(0, width / 2 + 0.5 - distance))

/** Distance from a point to the nearest of the diagonals that repeat every `period`. */
function toDiagonal(along: number, period: number): number {
  const offset = ((along % period) + period) % period
  return Math.min(offset, period - offset) / Math.SQRT2
}

/** Return the ink coverage of a hatch at a point, 0 to 1. */
export function coverage(hatch: Hatch, x: number, y: number): number {
  switch (hatch) {
    case LOOK.dotted:
      return line(Math.hypot((x % PERIOD) - PERIOD / 2, (y % PERIOD) - PERIOD / 2), 1.4) * 0.55
    case LOOK.lined:
      return line(toDiagonal(x + y, PERIOD), 0.9) * 0.6
    case LOOK.veiled:
      return line(toDiagonal(x - y, PERIOD), 2.6) * 0.9
    case LOOK.flecked:
      return line(Math.hypot((x % PERIOD) - PERIOD / 2, (y % PERIOD) - PERIOD / 2), 2) * 0.5
    case LOOK.ruled:
      return line(Math.abs((y % PERIOD) - PERIOD / 2), 0.9) * 0.3
    case LOOK.barred:
      return line(Math.abs((x % PERIOD) - PERIOD / 2), 1.4) * 0.8
    case LOOK.ringed:
      return line(Math.abs(Math.hypot((x % PERIOD) - PERIOD / 2, (y % PERIOD) - PERIOD / 2) - 2.4), 0.9) * 0.75
    case LOOK.crossed:
      return Math.max(line(toDiagonal(x + y, PERIOD), 1.6), line(toDiagonal(x - y, PERIOD), 1.6))
  }
}

/** Alpha of one repeating tile, 0 to 255, row-major, `PERIOD * density` pixels wide and high. */
export function tile(hatch: Hatch, density: number): { size: number; alpha: Uint8Array } {
  const size = Math.round(PERIOD * density)
  const alpha = new Uint8Array(size * size)
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      alpha[y * size + x] = Math.round(255 * coverage(hatch, ((x + 0.5) * PERIOD) / size, ((y + 0.5) * PERIOD) / size))
    }
  }
  return { size, alpha }
}
