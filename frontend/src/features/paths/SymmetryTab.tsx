import { pathRange } from '~/api/measurements'
import { CurveChart } from '~/charts/curve/CurveChart'
import { BinsChart } from '~/charts/distribution/BinsChart'
import { cumulative, cumulativeAbove, extent } from '~/charts/distribution/bins'
import { statisticName } from '~/lib/metrics'
import { formatDelay, formatSignedDelay, formatWhole } from '~/lib/units'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { useTime } from '~/ui/time'
import { directionStyle } from './bothWays'
import { type DirectionItem, DirectionKeys } from './Directions'
import styles from './paths.module.css'
import { strings } from './strings'
import { aboveFastest, symmetryRows } from './symmetry'

/** The least extent of the axis, ns: clocks of machines read no finer. */
const EXTENT_MIN = 1_000
const HEIGHT = 300

/** Both directions over each other: as measured, and each above its own fastest packet. */
export function SymmetryTab({ outbound, inbound }: { outbound: DirectionItem; inbound: DirectionItem }) {
  const items = [outbound, inbound]
  const time = pathRange(useTime())
  const bins = items.map((item) => item.bins)
  const furthest = Math.max(EXTENT_MIN, ...items.map((item) => aboveFastest(item, 'p999') ?? 0))
  return (
    <div className={styles.view}>
      <figure className={styles.chart}>
        <figcaption>
          <h2>{strings.asMeasured}</h2>
          <DirectionKeys items={items} />
          <PictureMenu title={strings.asMeasured} range={time} />
        </figcaption>
        <BinsChart
          label={strings.asMeasuredSummary}
          height={HEIGHT}
          bins={bins}
          range={extent(bins) ?? [0, 1]}
          xLabel={strings.delayAxis}
          of={cumulative}
          formatY={formatWhole}
          style={directionStyle}
          names={items.map(({ title }) => title)}
        />
        <p className={styles.source}>{strings.asMeasuredHint(formatDelay(outbound.clock_error_ns))}</p>
      </figure>
      <figure className={styles.chart}>
        <figcaption>
          <h2>{strings.aboveFastest}</h2>
          <DirectionKeys items={items} />
          <PictureMenu title={strings.aboveFastest} range={time} />
        </figcaption>
        <CurveChart
          label={strings.aboveFastestSummary}
          height={HEIGHT}
          lines={items.map((item, n) => ({
            key: item.selection,
            label: item.title,
            ...directionStyle(n),
            ...cumulativeAbove(item.bins, item.min_ns ?? 0, furthest),
          }))}
          x={[0, furthest]}
          y={[0, 1]}
          xLabel={strings.aboveFastestAxis}
          formatX={formatDelay}
          formatY={formatWhole}
        />
        <p className={styles.source}>{strings.aboveFastestHint}</p>
      </figure>
      <div className={styles.wide}>
        <Records
          label={strings.aboveFastest}
          rows={symmetryRows(outbound, inbound)}
          id={(row) => row.name}
          columns={[
            { title: strings.aboveFastest, cell: (row) => statisticName(row.name), as: 'head' },
            { title: strings.outbound, cell: (row) => formatDelay(row.outbound), as: 'number' },
            { title: strings.inbound, cell: (row) => formatDelay(row.inbound), as: 'number' },
            { title: strings.outboundMinusInbound, cell: (row) => formatSignedDelay(row.difference), as: 'number' },
          ]}
        />
      </div>
    </div>
  )
}
