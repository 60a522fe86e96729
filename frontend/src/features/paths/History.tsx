import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAnnotationMarks } from '~/api/annotations'
import { serverNow } from '~/api/connection'
import { deviationQuery, pathRange, seriesQuery } from '~/api/measurements'
import type { Path } from '~/api/types'
import type { Statistic } from '~/lib/dimensions'
import type { TimeSearch } from '~/lib/spans'
import type { Clock } from '~/lib/time'
import { ActionError } from '~/ui/State'
import { useEarlierSeries } from './earlierSeries'
import { NewestWindow } from './NewestWindow'
import { PathCharts } from './PathCharts'
import { incidentSpans, usePathIncidents } from './pathIncidents'
import styles from './paths.module.css'
import { useReroutes } from './reroutes'

interface Props {
  meshId: string
  source: string
  target: string
  path: Path
  time: TimeSearch
  statistic: Statistic
  clock: Clock
}

/** A path over time, and its newest window. */
export function History({ meshId, source, target, path, time, statistic, clock }: Props) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const series = useQuery(seriesQuery(meshId, source, target, time, statistic))
  const earlier = useEarlierSeries(meshId, source, target, time, statistic)
  const outbound = useQuery(deviationQuery(meshId, 'vm', source, target)).data
  const inbound = useQuery(deviationQuery(meshId, 'vm', target, source)).data
  const annotations = useAnnotationMarks(meshId, pathRange(time))
  const reroutes = useReroutes(source, target)
  const marks = useMemo(() => annotations && [...annotations, ...reroutes], [annotations, reroutes])
  const incidents = usePathIncidents(meshId, source, target).data
  const spans = useMemo(() => incidentSpans(incidents ?? [], serverNow()), [incidents])
  const usual = useMemo(() => ({ outbound, inbound }), [outbound, inbound])
  return (
    <div className={styles.history}>
      {series.error && !series.data ? (
        <ActionError error={series.error} />
      ) : (
        <PathCharts
          series={series.data}
          usual={usual}
          statistic={statistic}
          earlier={earlier}
          time={time}
          clock={clock}
          theme={theme}
          waiting={series.isPlaceholderData}
          marks={marks}
          spans={spans}
        />
      )}
      <div className={styles.side}>
        <NewestWindow path={path} clock={clock} />
      </div>
    </div>
  )
}
