/** The history of a path in an earlier period, drawn over the shown one. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { pathRange, seriesQuery } from '~/api/measurements'
import type { Series } from '~/api/types'
import type { Values } from '~/charts/series/lines'
import type { Statistic } from '~/lib/dimensions'
import { earlierRange, isMoving, secondsOf, type TimeSearch } from '~/lib/spans'

/** A series, and the seconds by which it is earlier. */
export interface EarlierSeries {
  series: Series
  offsetS: number
}

/** Return the series of the period that the address compares with; undefined without one, or while it loads. */
export function useEarlierSeries(
  meshId: string,
  source: string,
  target: string,
  time: TimeSearch,
  statistic: Statistic,
): EarlierSeries | undefined {
  // A moving range is compared with a fixed one: a minute more or less makes no difference in an earlier period.
  const minute = Math.floor(Date.now() / 60_000)
  const earlier = useMemo(() => {
    if (!time.versus) return undefined
    const range = pathRange(isMoving(time) ? { ...time, until: new Date(minute * 60_000).toISOString() } : time)
    const { from, to } = earlierRange(range, time.versus)
    const offsetS = secondsOf({ from, to: range.from })
    return { time: { from, until: to }, offsetS }
  }, [time, minute])
  const { data } = useQuery({
    ...seriesQuery(meshId, source, target, earlier?.time ?? {}, statistic),
    enabled: earlier !== undefined,
  })
  return useMemo(() => (earlier && data ? { series: data, offsetS: earlier.offsetS } : undefined), [earlier, data])
}

/** Return a column of an earlier series at the times (Unix s) of the shown one; null where it has no point near. */
export function valuesAt(times: readonly number[], { series, offsetS }: EarlierSeries, values: Values): Values {
  const near = series.resolution_s / 2
  const earlier = series.points_at.map((at) => Date.parse(at) / 1_000 + offsetS)
  let next = 0
  return times.map((at) => {
    while (next + 1 < earlier.length && distance(earlier, next + 1, at) <= distance(earlier, next, at)) next++
    return earlier.length > 0 && distance(earlier, next, at) <= near ? (values[next] ?? null) : null
  })
}

const distance = (times: readonly number[], index: number, at: number) => Math.abs((times[index] as number) - at)
