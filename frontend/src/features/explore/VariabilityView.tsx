import { useQuery } from '@tanstack/react-query'
import { type Asked, variabilityQuery } from '~/api/answers'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { Answered } from './Answered'
import { BinsChart } from './DistributionView'
import styles from './explore.module.css'
import { bars, extent } from './histograms'

const NAMES = { '1m': 'within 1 minute', '10m': 'within 10 minutes', '1h': 'within 1 hour', '1d': 'within 1 day' }

/** Standard deviations of each path within intervals of three lengths. */
export function VariabilityView({ meshId, asked }: { meshId: string; asked: Asked }) {
  const question = variabilityQuery(meshId, asked)
  const query = useQuery(question)
  return (
    <Answered query={query} asked={question.queryKey} what="the variability">
      {({ items }) => {
        const range = extent(items.flatMap((item) => item.intervals.map((interval) => interval.bins)))
        if (!range)
          return <Empty title="Nothing was measured in this time">Choose a longer one, or another selection.</Empty>
        return (
          <div className={styles.view}>
            {items.map((item) => (
              <figure key={item.selection} className={styles.chart}>
                <figcaption>
                  Standard deviation, {item.title}
                  <span className={styles.values}>
                    {item.intervals.map(({ interval }, n) => (
                      <span key={interval}>
                        <span className={styles.key} style={{ background: lineStyle(n).colour }} />
                        {NAMES[interval]}
                      </span>
                    ))}
                  </span>
                </figcaption>
                <BinsChart
                  label={`Histogram of standard deviations of ${item.title}`}
                  height={240}
                  bins={item.intervals.map(({ bins }) => bins)}
                  range={range}
                  of={bars}
                  formatY={(value) => formatRatio(value)}
                />
              </figure>
            ))}
            <Records
              label="Standard deviations"
              rows={items.flatMap(({ selection, title, intervals }) =>
                intervals.map((one) => ({ selection, title, ...one })),
              )}
              id={(row) => `${row.selection} ${row.interval}`}
              columns={[
                { title: 'Selection', cell: (row) => row.title, as: 'head' },
                { title: 'Interval', cell: (row) => NAMES[row.interval] },
                { title: 'paths × intervals', cell: (row) => formatCount(row.count), as: 'number' },
                { title: 'median', cell: (row) => formatDelay(row.p50_ns), as: 'number' },
                { title: 'p90', cell: (row) => formatDelay(row.p90_ns), as: 'number' },
                { title: 'p99', cell: (row) => formatDelay(row.p99_ns), as: 'number' },
                { title: 'max', cell: (row) => formatDelay(row.max_ns), as: 'number' },
              ]}
            />
          </div>
        )
      }}
    </Answered>
  )
}
