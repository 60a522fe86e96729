import { useQuery } from '@tanstack/react-query'
import { type Asked, variabilityQuery } from '~/api/answers'
import { formatCount, formatDelay, formatRatio } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { pageStyles, Table } from '~/ui/Page'
import { Empty } from '~/ui/State'
import { Answered } from './Answered'
import { BinsChart } from './DistributionView'
import styles from './explore.module.css'
import { bars, extent } from './histograms'

const NAMES = { '1m': 'within 1 minute', '10m': 'within 10 minutes', '1h': 'within 1 hour', '1d': 'within 1 day' }

/** Standard deviations of each path within intervals of three lengths. */
export function VariabilityView({ meshId, asked }: { meshId: string; asked: Asked }) {
  const query = useQuery(variabilityQuery(meshId, asked))
  return (
    <Answered query={query} what="the variability">
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
            <Table label="Standard deviations">
              <thead>
                <tr>
                  <th scope="col">Selection</th>
                  <th scope="col">Interval</th>
                  {['paths × intervals', 'median', 'p90', 'p99', 'max'].map((name) => (
                    <th key={name} scope="col" className={pageStyles.number}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {items.flatMap((item) =>
                  item.intervals.map((one) => (
                    <tr key={`${item.selection} ${one.interval}`}>
                      <th scope="row">{item.title}</th>
                      <td>{NAMES[one.interval]}</td>
                      <td className={pageStyles.number}>{formatCount(one.count)}</td>
                      {[one.p50_ns, one.p90_ns, one.p99_ns, one.max_ns].map((value, n) => (
                        // biome-ignore lint/suspicious/noArrayIndexKey: four fixed columns
                        <td key={n} className={pageStyles.number}>
                          {formatDelay(value)}
                        </td>
                      ))}
                    </tr>
                  )),
                )}
              </tbody>
            </Table>
          </div>
        )
      }}
    </Answered>
  )
}
