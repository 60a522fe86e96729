/** Pure parts of a line chart over time. */

export type Values = readonly (number | null)[]

/** Points with a gap on both sides: no line reaches them, so they are drawn as dots. */
export function isolated(values: Values): number[] {
  const isolated: number[] = []
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) isolated.push(i)
  }
  return isolated
}

/** Return the edges of a band of `error` around `values`; a delay is never drawn below zero. */
export function band(values: Values, error: Values): { low: (number | null)[]; high: (number | null)[] } {
  const edge = (sign: 1 | -1) =>
    values.map((value, i) => {
      const width = error[i]
      return value == null || width == null ? null : Math.max(Math.min(0, value), value + sign * width)
    })
  return { low: edge(-1), high: edge(1) }
}

/** Smallest, largest, and how many gaps interrupt the line; `null` when there is no value at all. */
export function summary(values: Values): { least: number; most: number; gaps: number } | null {
  const known = values.filter((value): value is number => value != null)
  if (known.length === 0) return null
  let gaps = 0
  for (let i = 1; i < values.length; i++) if (values[i] == null && values[i - 1] != null) gaps += 1
  // A line that merely ends early, or starts late, is not interrupted.
  if (values.at(-1) == null) gaps -= 1
  const least = known.reduce((a, b) => Math.min(a, b))
  const most = known.reduce((a, b) => Math.max(a, b))
  return { least, most, gaps }
}

/** Return the last value there is, and its place. */
export function newest(values: Values): number | null {
  const at = values.findLastIndex((value) => value != null)
  return at < 0 ? null : at
}
