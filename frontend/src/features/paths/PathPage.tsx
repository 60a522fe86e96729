import { SegmentedControl, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAnnotationMarks } from '~/api/annotations'
import { pathQuery, pathRange, seriesQuery } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import type { Statistic } from '~/lib/dimensions'
import { STATISTIC_OPTIONS } from '~/lib/metrics'
import { useClock } from '~/ui/clock'
import { useNamedPage } from '~/ui/pageName'
import { ActionError, Failed, Loading, Notice } from '~/ui/State'
import { useTime } from '~/ui/time'
import { useEarlierSeries } from './earlierSeries'
import { Flows } from './Flows'
import { NewestWindow } from './NewestWindow'
import { PathCharts } from './PathCharts'
import { PathHead } from './PathHead'
import { PinRange } from './PinRange'
import styles from './paths.module.css'
import type { PathSearch } from './search'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  source: string
  target: string
  search: PathSearch
  onSearch: (patch: PathSearch) => void
}

const STATE_TEXT = {
  measured: null,
  not_planned: strings.notPlanned,
  no_data: strings.noData,
  stale: strings.stale,
  lost: strings.lost,
}

/** The history of one path in both directions. */
export function PathPage({ mesh, source, target, search, onSearch }: Props) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const time = useTime()
  const statistic = search.statistic ?? 'p50'
  const path = useQuery(pathQuery(mesh.id, source, target))
  const series = useQuery(seriesQuery(mesh.id, source, target, time, statistic))
  const earlier = useEarlierSeries(mesh.id, source, target, time, statistic)
  const marks = useAnnotationMarks(mesh.id, pathRange(time))

  useNamedPage(path.data && `${path.data.source.name} → ${path.data.target.name}`)

  if (path.error && !path.data)
    return <Failed what={strings.thePath} error={path.error} retry={() => void path.refetch()} />
  if (!path.data) return <Loading what={strings.pathLower} />
  const { state } = path.data
  return (
    <div className={styles.page}>
      <PathHead
        mesh={mesh}
        path={path.data}
        controls={
          <>
            <SegmentedControl
              aria-label={strings.statistic}
              data={STATISTIC_OPTIONS}
              value={statistic}
              onChange={(value) => onSearch({ statistic: value as Statistic })}
            />
            <PinRange meshId={mesh.id} range={() => pathRange(time)} />
          </>
        }
      />
      {STATE_TEXT[state] && <Notice tone={state === 'lost' ? 'bad' : 'warn'}>{STATE_TEXT[state]}</Notice>}
      {series.error && !series.data ? (
        <ActionError error={series.error} />
      ) : (
        <PathCharts
          series={series.data}
          statistic={statistic}
          earlier={earlier}
          time={time}
          clock={clock}
          theme={theme}
          waiting={series.isPlaceholderData}
          marks={marks}
        />
      )}
      <NewestWindow path={path.data} clock={clock} />
      <Flows path={path.data} />
    </div>
  )
}
