import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type ExploreParameters, fileOf, type QUERY } from '~/api/explore'
import { rosterQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { type Granularity, METRICS, STATISTICS } from '~/lib/dimensions'
import { METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import { labelled } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { ButtonLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { Empty } from '~/ui/State'
import { useTime } from '~/ui/time'
import { Unloaded } from '~/ui/Unloaded'
import { DistributionView } from './DistributionView'
import styles from './explore.module.css'
import { LossView } from './LossView'
import { MoversView } from './MoversView'
import { SelectionPicker } from './SelectionPicker'
import { SeriesView } from './SeriesView'
import { SpikesView } from './SpikesView'
import { type ExploreSearch, selections, VIEWS, type View } from './search'
import { strings } from './strings'
import { VariabilityView } from './VariabilityView'

const NAMES: Record<View, string> = {
  series: strings.series,
  distribution: strings.distribution,
  variability: strings.variability,
  losses: strings.loss,
  movers: strings.movers,
  spikes: strings.spikes,
}

const ABOUT: Record<View, string> = {
  series: strings.seriesLead,
  distribution: strings.distributionLead,
  variability: strings.variabilityLead,
  losses: strings.lossLead,
  movers: strings.moversLead,
  spikes: strings.spikesLead,
}

interface Props {
  mesh: Mesh
  search: ExploreSearch
  onSearch: (patch: ExploreSearch) => void
}

/** Measurements of a mesh in six views over one time range. */
export function ExplorePage({ mesh, search, onSearch }: Props) {
  const clock = useClock()
  const roster = useQuery(rosterQuery(mesh.id))
  const time = useTime()
  const show = search.show ?? 'series'
  const choices = useRef<HTMLDivElement>(null)
  // In a narrow window the chosen view may be beyond the edge.
  useEffect(() => {
    if (roster.isSuccess)
      choices.current?.querySelector(`[value=${show}] + label`)?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [show, roster.isSuccess])
  const parameters: ExploreParameters = {
    selections: selections(search.of),
    time,
    metric: search.metric ?? 'one_way_delay',
    statistic: search.statistic ?? 'p50',
    by: search.by ?? 'vm',
    interval: search.interval ?? '1h',
  }
  if (!roster.data) {
    return <Unloaded query={roster} title={NAMES[show]} what={strings.meshLower} failed={strings.theMesh} />
  }
  if (roster.data.vms.length < 2) {
    return (
      <Empty
        title={strings.noPaths(mesh.name)}
        action={
          <ButtonLink to="/onboarding" search={{ mesh: mesh.id }}>
            {strings.addVm}
          </ButtonLink>
        }
      >
        {strings.noPathsLead}
      </Empty>
    )
  }
  const delaysOnly = show === 'distribution' || show === 'variability'
  const hasMetric = show === 'series' || delaysOnly
  const metrics = METRIC_OPTIONS.filter(
    ({ value }) => !delaysOnly || value === 'one_way_delay' || value === 'round_trip',
  )
  const views: Record<View, React.ReactNode> = {
    series: <SeriesView meshId={mesh.id} parameters={parameters} clock={clock} />,
    distribution: <DistributionView meshId={mesh.id} parameters={parameters} />,
    variability: <VariabilityView meshId={mesh.id} parameters={parameters} />,
    losses: <LossView meshId={mesh.id} parameters={parameters} clock={clock} />,
    movers: <MoversView meshId={mesh.id} parameters={parameters} clock={clock} />,
    spikes: (
      <SpikesView
        meshId={mesh.id}
        parameters={parameters}
        clock={clock}
        open={search.spike}
        onOpen={(spike) => onSearch({ spike })}
      />
    ),
  }
  return (
    <Page
      title={strings.viewOf(NAMES[show], mesh.name)}
      lead={ABOUT[show]}
      action={
        <DownloadMenu
          file={(format) => fileOf(mesh.id, show as keyof typeof QUERY, parameters, format)}
          without={show === 'spikes' ? ['json'] : []}
        />
      }
    >
      <SegmentedControl
        ref={choices}
        aria-label={strings.view}
        data={labelled(NAMES, VIEWS)}
        value={show}
        onChange={(value) => onSearch({ show: value as View })}
      />
      <div className={styles.controls}>
        {hasMetric && (
          <Choice
            aria-label={strings.metric}
            size="xs"
            data={metrics}
            value={metrics.some(({ value }) => value === parameters.metric) ? parameters.metric : 'one_way_delay'}
            onChange={(value) => {
              const metric = METRICS.find((option) => option === value)
              if (metric) onSearch({ metric })
            }}
          />
        )}
        {show === 'series' && (
          <Choice
            aria-label={strings.statistic}
            size="xs"
            data={STATISTIC_OPTIONS}
            value={parameters.statistic}
            onChange={(value) => {
              const statistic = STATISTICS.find((option) => option === value)
              if (statistic) onSearch({ statistic })
            }}
          />
        )}
        {show === 'movers' && (
          <SegmentedControl
            size="xs"
            aria-label={strings.granularity}
            data={[
              { value: 'vm', label: strings.paths },
              { value: 'zone', label: strings.zonePairs },
            ]}
            value={parameters.by}
            onChange={(by) => onSearch({ by: by as Granularity })}
          />
        )}
        {show === 'losses' && (
          <SegmentedControl
            size="xs"
            aria-label={strings.interval}
            data={[
              { value: '1h', label: strings.hourly },
              { value: '1d', label: strings.daily },
            ]}
            value={parameters.interval}
            onChange={(interval) => onSearch({ interval: interval as '1h' | '1d' })}
          />
        )}
      </div>
      {show !== 'movers' && (
        <SelectionPicker
          roster={roster.data}
          chosen={parameters.selections}
          most={show === 'spikes' ? 1 : 6}
          onChange={(of) => onSearch({ of: of.join(','), spike: '' })}
        />
      )}
      {views[show]}
    </Page>
  )
}
