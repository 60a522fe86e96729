import { useQuery } from '@tanstack/react-query'
import { type ExploreParameters, exploreRange, variabilityQuery } from '~/api/explore'
import { BinsChart } from '~/charts/distribution/BinsChart'
import { bars, extent } from '~/charts/distribution/bins'
import { statisticName } from '~/lib/metrics'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { Term } from '~/ui/Term'
import styles from './explore.module.css'
import { QueryResult } from './QueryResult'
import { strings } from './strings'

const NAMES = {
  '1m': strings.within1Minute,
  '10m': strings.within10Minutes,
  '1h': strings.within1Hour,
  '1d': strings.within1Day,
}

/** Standard deviations of each path within intervals of three lengths. */
export function VariabilityView({ meshId, parameters }: { meshId: string; parameters: ExploreParameters }) {
  const options = variabilityQuery(meshId, parameters)
  const query = useQuery(options)
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.variabilityLower}>
      {({ items }) => {
        const range = extent(items.flatMap((item) => item.intervals.map((interval) => interval.bins)))
        if (!range) return <Empty title={strings.noMeasurements}>{strings.chooseLonger}</Empty>
        return (
          <div className={styles.view}>
            {items.map((item) => (
              <figure key={item.selection} className={styles.chart}>
                <figcaption>
                  <Term of="variability">{strings.sdOf(item.title)}</Term>
                  <span className={styles.values}>
                    {item.intervals.map(({ interval }, n) => (
                      <span key={interval}>
                        <span className={styles.key} style={{ background: lineStyle(n).colour }} />
                        {NAMES[interval]}
                      </span>
                    ))}
                  </span>
                  <PictureMenu title={strings.sdOf(item.title)} range={exploreRange(parameters)} />
                </figcaption>
                <BinsChart
                  label={strings.sdHistogram(item.title)}
                  height={240}
                  bins={item.intervals.map(({ bins }) => bins)}
                  range={range}
                  xLabel={strings.delayAxis}
                  style={lineStyle}
                  names={item.intervals.map(({ interval }) => NAMES[interval])}
                  of={bars}
                  formatY={(value) => formatRatio(value)}
                />
              </figure>
            ))}
            <Records
              label={strings.standardDeviations}
              rows={items.flatMap(({ selection, title, intervals }) =>
                intervals.map((interval) => ({ selection, title, ...interval })),
              )}
              id={(row) => `${row.selection} ${row.interval}`}
              columns={[
                { title: strings.selection, cell: (row) => row.title, as: 'head' },
                { title: strings.interval, cell: (row) => NAMES[row.interval] },
                { title: strings.pathIntervals, cell: (row) => formatCount(row.count), as: 'number' },
                { title: statisticName('p50'), cell: (row) => formatDelay(row.p50_ns), as: 'number' },
                { title: statisticName('p90'), cell: (row) => formatDelay(row.p90_ns), as: 'number' },
                { title: statisticName('p99'), cell: (row) => formatDelay(row.p99_ns), as: 'number' },
                { title: statisticName('max'), cell: (row) => formatDelay(row.max_ns), as: 'number' },
              ]}
            />
          </div>
        )
      }}
    </QueryResult>
  )
}
