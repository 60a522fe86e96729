import { useQuery } from '@tanstack/react-query'
import { distributionQuery, type ExploreParameters, exploreRange } from '~/api/explore'
import type { Distribution } from '~/api/types'
import { BinsChart } from '~/charts/distribution/BinsChart'
import { bars, cumulative, extent } from '~/charts/distribution/bins'
import { statisticName } from '~/lib/metrics'
import { formatCount, formatDelay, formatRatio, formatWhole, NO_VALUE } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { PictureMenu } from '~/ui/PictureMenu'
import { type Column, Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import styles from './explore.module.css'
import { QueryResult } from './QueryResult'
import { strings } from './strings'

const QUANTILES = (['p1', 'p25', 'p50', 'p90', 'p99', 'p999'] as const).map(
  (name): Column<Distribution['items'][number]> => ({
    title: name === 'p999' ? statisticName(name) : name,
    cell: (item) => formatDelay(item.quantiles_ns[name]),
    as: 'number',
  }),
)

/** All delays of the selections. */
export function DistributionView({ meshId, parameters }: { meshId: string; parameters: ExploreParameters }) {
  const options = distributionQuery(meshId, parameters)
  const query = useQuery(options)
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.distributionLower}>
      {({ items }) => {
        const bins = items.map((item) => item.bins)
        const range = extent(bins)
        if (!range) return <Empty title={strings.noMeasurements}>{strings.chooseLonger}</Empty>
        const names = items.map((item) => item.title)
        const shared = { bins, range, xLabel: strings.delayAxis, style: lineStyle, names }
        return (
          <div className={styles.view}>
            <figure className={styles.chart}>
              <figcaption>
                {strings.cumulativeShare}
                <PictureMenu title={strings.cumulativeShare} range={exploreRange(parameters)} />
              </figcaption>
              <BinsChart
                {...shared}
                label={strings.cumulativeSummary(names.join(', '))}
                height={300}
                of={cumulative}
                formatY={formatWhole}
              />
            </figure>
            <figure className={styles.chart}>
              <figcaption>
                {strings.histogram}
                <PictureMenu title={strings.histogram} range={exploreRange(parameters)} />
              </figcaption>
              <BinsChart
                {...shared}
                label={strings.histogramSummary(names.join(', '))}
                height={220}
                of={bars}
                formatY={formatRatio}
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
                {
                  title: strings.overLimit,
                  // Recorded answers of earlier versions do not count them.
                  cell: ({ over }) =>
                    over ? strings.overInSpikes(formatCount(over.count), formatCount(over.spikes)) : NO_VALUE,
                  as: 'number',
                },
              ]}
            />
          </div>
        )
      }}
    </QueryResult>
  )
}
