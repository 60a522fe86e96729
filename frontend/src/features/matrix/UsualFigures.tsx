import { useQuery } from '@tanstack/react-query'
import { deviationQuery, type When } from '~/api/measurements'
import type { Deviation } from '~/api/types'
import type { Granularity } from '~/lib/dimensions'
import { formatMoment } from '~/lib/time'
import { formatDelay, formatExact, formatSignedDelay } from '~/lib/units'
import { useClock } from '~/ui/clock'
import styles from './matrix.module.css'
import { strings } from './strings'

/** Return the basis of a usual value in words. */
function basisOf({ basis, steps }: Deviation): string {
  if (basis === 'same_hour') return strings.sameHour(steps)
  if (basis === 'all_hours') return strings.allHours(steps)
  return basis === 'last_day' ? strings.lastDay(steps) : strings.lastHour(steps)
}

interface Props {
  meshId: string
  by: Granularity
  source: string
  target: string
  /** A range, which has a worst hour. */
  when?: When | undefined
}

/** The one-way p50 of a path or zone pair now (or in its worst hour) and usually, its change, and what is usual. */
export function UsualFigures({ meshId, by, source, target, when }: Props) {
  const clock = useClock()
  const { data } = useQuery(deviationQuery(meshId, by, source, target, when))
  if (!data || data.value_ns === null) return null
  if (data.baseline_ns === null) return <p className={styles.footnote}>{strings.noBaselineHint}</p>
  return (
    <>
      <table className={styles.figures} aria-label={strings.changeFromUsual}>
        <tbody>
          <tr>
            <th scope="row">{strings.usual}</th>
            <td title={formatExact(data.baseline_ns)}>{formatDelay(data.baseline_ns)}</td>
          </tr>
          <tr>
            <th scope="row">
              {data.worst_hour_at
                ? strings.worstHourFrom(formatMoment(new Date(data.worst_hour_at), clock))
                : strings.now}
            </th>
            <td title={formatExact(data.value_ns)}>{formatDelay(data.value_ns)}</td>
          </tr>
          <tr>
            <th scope="row">{strings.change}</th>
            <td title={formatExact(data.deviation_ns)}>
              {data.is_unusual ? formatSignedDelay(data.deviation_ns) : strings.asUsual}
            </td>
          </tr>
        </tbody>
      </table>
      <p className={styles.footnote}>{strings.basis(basisOf(data), formatDelay(data.dead_band_ns))}</p>
    </>
  )
}
