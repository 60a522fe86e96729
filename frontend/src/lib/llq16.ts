/**
 * LLQ16 bins: a log-linear quantisation of delays, 64 bins per octave, relative error at most 1/128.
 * The same arithmetic runs in the agent and the backend, so a code on the wire *is* the bin of the sketch.
 */

export const BINS = 2048

/** Largest delay with a separate bin, ns (137.4 s); anything above shares the last bin. */
const LARGEST_NS = 2 ** 37 - 1

/** Return the bin of a delay in nanoseconds; zero and negative values (clock error) share bin 0. */
export function binOf(delayNs: number): number {
  const v = Math.min(Math.max(Math.trunc(delayNs), 0), LARGEST_NS)
  if (v < 128) return v
  // log2 is exact enough only away from powers of two, so the estimate is corrected by the definition.
  let shift = Math.floor(Math.log2(v)) - 6
  if (Math.floor(v / 2 ** shift) >= 128) shift += 1
  else if (Math.floor(v / 2 ** shift) < 64) shift -= 1
  return 64 * shift + Math.floor(v / 2 ** shift)
}

/** Return the value a bin stands for, ns: its middle. */
export function delayOf(bin: number): number {
  if (bin < 128) return bin
  const shift = Math.floor(bin / 64) - 1
  return (64 + (bin % 64)) * 2 ** shift + 2 ** shift / 2
}
