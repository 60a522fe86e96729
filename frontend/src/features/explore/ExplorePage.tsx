import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Asked, fileOf, type QUERY } from '~/api/answers'
import { rosterQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import {
  type ExploreSearch,
  type Granularity,
  METRICS,
  QUESTIONS,
  type Question,
  SPANS,
  type Span,
  STATISTICS,
  selections,
  VERSUS,
  type Versus,
} from '~/lib/search'
import { SPAN_OPTIONS, VERSUS_OPTIONS } from '~/lib/spans'
import { useClock } from '~/ui/clock'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { MomentField } from '~/ui/MomentField'
import { Page } from '~/ui/Page'
import { Empty, Failed, Loading } from '~/ui/State'
import { DistributionView } from './DistributionView'
import styles from './explore.module.css'
import { LossView } from './LossView'
import { MoversView } from './MoversView'
import { SelectionPicker } from './SelectionPicker'
import { SeriesView } from './SeriesView'
import { SpikesView } from './SpikesView'
import { VariabilityView } from './VariabilityView'

const NAMES: Record<Question, string> = {
  series: 'Series',
  distribution: 'Distribution',
  variability: 'Variability',
  losses: 'Loss',
  movers: 'Movers',
  spikes: 'Spikes',
}

const ABOUT: Record<Question, string> = {
  series: 'Values over time, of several paths or pairs of zones at once.',
  distribution: 'Every delay of the time, as cumulative shares and as a histogram.',
  variability: 'How far the delay of a path strays within a minute, ten minutes, an hour.',
  losses: 'Packets lost by hour or day, and how that spreads over the paths.',
  movers: 'The paths that changed most against an earlier time.',
  spikes: 'Sudden rises of delay, with the exchanges around each.',
}

interface Props {
  mesh: Mesh
  search: ExploreSearch
  onSearch: (patch: ExploreSearch) => void
}

/** Questions about what was measured in a mesh. */
export function ExplorePage({ mesh, search, onSearch }: Props) {
  const clock = useClock()
  const roster = useQuery(rosterQuery(mesh.id))
  const show = search.show ?? 'series'
  const asked: Asked = {
    selections: selections(search.of),
    span: search.span ?? '1h',
    until: search.until,
    metric: search.metric ?? 'one_way_delay',
    statistic: search.statistic ?? 'p50',
    versus: search.versus ?? 'before',
    by: search.by ?? 'vm',
    interval: search.interval ?? '1h',
  }
  if (roster.error && !roster.data) {
    return <Failed what="The mesh" error={roster.error} retry={() => void roster.refetch()} />
  }
  if (!roster.data) return <Loading what="the mesh" />
  if (roster.data.vms.length < 2) {
    return <Empty title={`${mesh.name} has no path yet`}>A path needs two VMs. Add them to the mesh first.</Empty>
  }
  const delaysOnly = show === 'distribution' || show === 'variability'
  const hasMetric = show === 'series' || show === 'movers' || delaysOnly
  const metrics = METRIC_OPTIONS.filter(
    ({ value }) => !delaysOnly || value === 'one_way_delay' || value === 'round_trip',
  )
  const views: Record<Question, React.ReactNode> = {
    series: <SeriesView meshId={mesh.id} asked={asked} clock={clock} />,
    distribution: <DistributionView meshId={mesh.id} asked={asked} />,
    variability: <VariabilityView meshId={mesh.id} asked={asked} />,
    losses: <LossView meshId={mesh.id} asked={asked} clock={clock} />,
    movers: <MoversView meshId={mesh.id} asked={asked} clock={clock} />,
    spikes: (
      <SpikesView
        meshId={mesh.id}
        asked={asked}
        clock={clock}
        open={search.spike}
        onOpen={(spike) => onSearch({ spike })}
      />
    ),
  }
  return (
    <Page
      title={`${NAMES[show]} of ${mesh.name}`}
      lead={ABOUT[show]}
      action={
        <DownloadMenu
          file={(format) => fileOf(mesh.id, show as keyof typeof QUERY, asked, format)}
          without={show === 'spikes' ? ['json'] : []}
        />
      }
    >
      <SegmentedControl
        aria-label="Question"
        data={QUESTIONS.map((value) => ({ value, label: NAMES[value] }))}
        value={show}
        onChange={(value) => onSearch({ show: value as Question })}
      />
      <div className={styles.controls}>
        <NativeSelect
          aria-label="Time"
          size="xs"
          data={SPAN_OPTIONS}
          value={asked.span}
          onChange={({ currentTarget: { value } }) => onSearch({ span: (value in SPANS ? value : '1h') as Span })}
        />
        <MomentField label="Until" value={asked.until} onChange={(until) => onSearch({ until: until ?? '' })} />
        {hasMetric && (
          <NativeSelect
            aria-label="Metric"
            size="xs"
            data={metrics}
            value={metrics.some(({ value }) => value === asked.metric) ? asked.metric : 'one_way_delay'}
            onChange={({ currentTarget: { value } }) => {
              const metric = METRICS.find((one) => one === value)
              if (metric) onSearch({ metric })
            }}
          />
        )}
        {(show === 'series' || show === 'movers') && (
          <NativeSelect
            aria-label="Statistic"
            size="xs"
            data={STATISTIC_OPTIONS}
            value={asked.statistic}
            onChange={({ currentTarget: { value } }) => {
              const statistic = STATISTICS.find((one) => one === value)
              if (statistic) onSearch({ statistic })
            }}
          />
        )}
        {show === 'movers' && (
          <>
            <SegmentedControl
              size="xs"
              aria-label="Paths or zones"
              data={[
                { value: 'vm', label: 'Paths' },
                { value: 'zone', label: 'Pairs of zones' },
              ]}
              value={asked.by}
              onChange={(by) => onSearch({ by: by as Granularity })}
            />
            <NativeSelect
              aria-label="Compare with"
              size="xs"
              data={VERSUS_OPTIONS.map((one) => ({ ...one, label: `Against ${one.label}` }))}
              value={asked.versus}
              onChange={({ currentTarget: { value } }) =>
                onSearch({ versus: (value in VERSUS ? value : 'before') as Versus })
              }
            />
          </>
        )}
        {show === 'losses' && (
          <SegmentedControl
            size="xs"
            aria-label="Interval"
            data={[
              { value: '1h', label: 'By hour' },
              { value: '1d', label: 'By day' },
            ]}
            value={asked.interval}
            onChange={(interval) => onSearch({ interval: interval as '1h' | '1d' })}
          />
        )}
      </div>
      {show !== 'movers' && (
        <SelectionPicker
          roster={roster.data}
          chosen={asked.selections}
          most={show === 'spikes' ? 1 : 6}
          onChange={(of) => onSearch({ of: of.join(','), spike: '' })}
        />
      )}
      {views[show]}
    </Page>
  )
}
