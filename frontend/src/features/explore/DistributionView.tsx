import { useQuery } from '@tanstack/react-query'
import { distributionQuery, type ExploreParameters } from '~/api/explore'
import type { Bins, Distribution } from '~/api/types'
import { CurveChart, type Line } from '~/charts/curve/CurveChart'
import type { Points } from '~/charts/curve/geometry'
import { statisticName } from '~/lib/metrics'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { type Column, Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import styles from './explore.module.css'
import { bars, cumulative, delayTicks, extent } from './histograms'
import { QueryResult } from './QueryResult'
import { strings } from './strings'

const QUANTILES = (['p1', 'p25', 'p50', 'p90', 'p99', 'p999'] as const).map(
  (name): Column<Distribution['items'][number]> => ({
    title: name === 'p999' ? statisticName(name) : name,
    cell: (item) => formatDelay(item.quantiles_ns[name]),
    as: 'number',
  }),
)

/** Histograms of delays on one logarithmic axis, as shares or as bars. */
export function BinsChart(props: {
  label: string
  height: number
  bins: Bins[]
  range: readonly [number, number]
  of: (bins: Bins, range: readonly [number, number]) => Points
  formatY: (value: number) => string
}) {
  const lines: Line[] = props.bins.map((bins, n) => {
    const { colour, dash } = lineStyle(n)
    return { key: String(n), colour, ...(dash ? { dash } : {}), ...props.of(bins, props.range) }
  })
  const most = Math.max(...lines.flatMap((line) => line.y), 1e-9)
  return (
    <CurveChart
      label={props.label}
      height={props.height}
      lines={lines}
      x={props.range}
      y={[0, most > 0.99 ? 1 : most * 1.08]}
      xLabel={strings.delayAxis}
      ticksX={(most) => delayTicks(props.range, most)}
      formatX={(value) => formatDelay(10 ** value)}
      formatY={props.formatY}
    />
  )
}

/** All delays of the selections. */
export function DistributionView({ meshId, parameters }: { meshId: string; parameters: ExploreParameters }) {
  const options = distributionQuery(meshId, parameters)
  const query = useQuery(options)
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.distributionLower}>
      {({ items }) => {
        const range = extent(items.map((item) => item.bins))
        if (!range) return <Empty title={strings.noMeasurements}>{strings.chooseLonger}</Empty>
        const names = items.map((item) => item.title).join(', ')
        return (
          <div className={styles.view}>
            <figure className={styles.chart}>
              <figcaption>{strings.cumulativeShare}</figcaption>
              <BinsChart
                label={strings.cumulativeSummary(names)}
                height={300}
                bins={items.map((item) => item.bins)}
                range={range}
                of={cumulative}
                formatY={(value) => `${Math.round(value * 100)} %`}
              />
            </figure>
            <figure className={styles.chart}>
              <figcaption>{strings.histogram}</figcaption>
              <BinsChart
                label={strings.histogramSummary(names)}
                height={220}
                bins={items.map((item) => item.bins)}
                range={range}
                of={bars}
                formatY={(value) => formatRatio(value)}
              />
            </figure>
            <Records
              label={strings.quantiles}
              rows={items}
              id={(item) => item.selection}
              columns={[
                {
                  title: strings.selection,
                  cell: (item, n) => (
                    <>
                      <span className={styles.key} style={{ background: lineStyle(n).colour }} /> {item.title}
                    </>
                  ),
                  as: 'head',
                },
                { title: strings.values, cell: (item) => formatCount(item.count), as: 'number' },
                { title: statisticName('min'), cell: (item) => formatDelay(item.min_ns), as: 'number' },
                { title: statisticName('mean'), cell: (item) => formatDelay(item.mean_ns), as: 'number' },
                { title: statisticName('sd'), cell: (item) => formatDelay(item.sd_ns), as: 'number' },
                ...QUANTILES,
                { title: statisticName('max'), cell: (item) => formatDelay(item.max_ns), as: 'number' },
              ]}
            />
          </div>
        )
      }}
    </QueryResult>
  )
}
