/** The measured performance of an application in steps of time, relative to its own best minutes. */

/** Nineteen in twenty minutes are not better than the best: a single one may be an error of the metric. */
const BEST = 0.95

/** Return the mean of each step that begins at `times` (s since 1970), a share of the best; null without a minute. */
export function meansOf(
  { points_at, value }: { points_at: readonly string[]; value: readonly number[] },
  metric: 'rate' | 'duration',
  times: readonly number[],
  stepS: number,
): (number | null)[] {
  // A duration is the better the shorter it is.
  const goodness = value.map((one) => (metric === 'rate' ? one : one > 0 ? 1 / one : 0))
  const best = goodness.toSorted((a, b) => a - b)[Math.floor(BEST * (goodness.length - 1))]
  const sums = times.map(() => [0, 0] as [number, number])
  const first = times[0] ?? 0
  for (const [at, time] of points_at.entries()) {
    const sum = sums[Math.floor((Date.parse(time) / 1_000 - first) / stepS)]
    if (!sum) continue
    sum[0] += goodness[at] ?? 0
    sum[1] += 1
  }
  return sums.map(([sum, count]) => (count > 0 && best ? Math.min(1, sum / count / best) : null))
}
