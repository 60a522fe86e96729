/** The usual delay of a direction as a band on the chart of its history. */

import type { Deviation } from '~/api/types'
import type { Line } from '~/charts/series/SeriesChart'

const HOUR_S = 3_600

type Usual = Pick<Deviation, 'baseline_ns' | 'dead_band_ns' | 'basis'>

/**
 * Return the usual p50 (ns) at each time (s since 1970), null where it is not known. A usual value of the same hour of
 * other days counts for the hour of `nowS` only.
 */
export function usualValues({ baseline_ns, basis }: Usual, times: readonly number[], nowS: number): (number | null)[] {
  const hour = Math.floor(nowS / HOUR_S)
  return times.map((at) => (basis !== 'same_hour' || Math.floor(at / HOUR_S) === hour ? baseline_ns : null))
}

/** Return the line of a usual value with its dead band as the band around it; none without one. */
export function usualLine(
  usual: Usual | undefined,
  line: Pick<Line, 'label' | 'colour'>,
  times: readonly number[],
): Line[] {
  const nowS = times.at(-1)
  if (usual?.baseline_ns == null || nowS === undefined) return []
  const values = usualValues(usual, times, nowS)
  return [
    { ...line, values, error: values.map((value) => (value === null ? null : usual.dead_band_ns)), isDashed: true },
  ]
}
