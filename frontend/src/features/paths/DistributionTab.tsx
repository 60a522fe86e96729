import { pathRange } from '~/api/measurements'
import { BinsChart } from '~/charts/distribution/BinsChart'
import { bars, cumulative, extent } from '~/charts/distribution/bins'
import { statisticName } from '~/lib/metrics'
import { formatCount, formatDelay, formatRatio, formatWhole } from '~/lib/units'
import { PictureMenu } from '~/ui/PictureMenu'
import { type Column, Records } from '~/ui/Records'
import { useTime } from '~/ui/time'
import { directionStyle } from './bothWays'
import { type DirectionItem, DirectionKeys } from './Directions'
import { Provider } from './Provider'
import styles from './paths.module.css'
import { strings } from './strings'

const QUANTILES = (['p1', 'p25', 'p50', 'p90', 'p99', 'p999'] as const).map(
  (name): Column<DirectionItem> => ({
    title: name === 'p999' ? statisticName(name) : name,
    cell: (item) => formatDelay(item.quantiles_ns[name]),
    as: 'number',
  }),
)

const COLUMNS: Column<DirectionItem>[] = [
  { title: strings.direction, cell: (item) => item.title, as: 'head' },
  { title: strings.samples, cell: (item) => formatCount(item.count), as: 'number' },
  { title: statisticName('min'), cell: (item) => formatDelay(item.min_ns), as: 'number' },
  { title: statisticName('mean'), cell: (item) => formatDelay(item.mean_ns), as: 'number' },
  ...QUANTILES,
  { title: statisticName('max'), cell: (item) => formatDelay(item.max_ns), as: 'number' },
]

interface Props {
  meshId: string
  source: string
  target: string
  outbound: DirectionItem
  inbound: DirectionItem
}

/** All delays of both directions in the range: cumulative, as a histogram, and their quantiles. */
export function DistributionTab({ meshId, source, target, outbound, inbound }: Props) {
  const items = [outbound, inbound]
  const time = pathRange(useTime())
  const bins = items.map((item) => item.bins)
  const range = extent(bins) ?? [0, 1]
  const shared = {
    bins,
    range,
    xLabel: strings.delayAxis,
    style: directionStyle,
    names: items.map(({ title }) => title),
  }
  return (
    <div className={styles.view}>
      <figure className={styles.chart}>
        <figcaption>
          <h2>{strings.cumulativeShare}</h2>
          <DirectionKeys items={items} />
          <PictureMenu title={strings.cumulativeShare} range={time} />
        </figcaption>
        <BinsChart {...shared} label={strings.cumulativeOf} height={300} of={cumulative} formatY={formatWhole} />
      </figure>
      <figure className={styles.chart}>
        <figcaption>
          <h2>{strings.histogram}</h2>
          <DirectionKeys items={items} />
          <PictureMenu title={strings.histogram} range={time} />
        </figcaption>
        <BinsChart {...shared} label={strings.histogramOf} height={300} of={bars} formatY={formatRatio} />
      </figure>
      <div className={styles.wide}>
        <Records label={strings.quantiles} rows={items} id={(item) => item.selection} columns={COLUMNS} />
      </div>
      <Provider meshId={meshId} source={source} target={target} outbound={outbound} />
    </div>
  )
}
