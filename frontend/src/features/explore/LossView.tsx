import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useAnnotationMarks } from '~/api/annotations'
import { exploreRange, lossesQuery } from '~/api/explore'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { statisticName } from '~/lib/metrics'
import { formatMoment } from '~/lib/time'
import { formatCount, formatRatio, ratioTicks } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { MarkList } from '~/ui/MarkList'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { Term } from '~/ui/Term'
import { useZoomTime } from '~/ui/time'
import styles from './explore.module.css'
import { QueryResult, type ViewProps } from './QueryResult'
import { strings } from './strings'

/** Loss by hour or day. */
export function LossView({ meshId, parameters, clock }: ViewProps) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const options = lossesQuery(meshId, parameters)
  const query = useQuery(options)
  const marks = useAnnotationMarks(meshId, exploreRange(parameters))
  const [cursor, setCursor] = useState<number | null>(null)
  const onZoom = useZoomTime()
  const data = query.data
  const times = useMemo(() => (data?.points_at ?? []).map((at) => Date.parse(at) / 1_000), [data])
  const lines = useMemo(
    (): Line[] =>
      (data?.items ?? []).map((item, n) => ({ label: item.title, colour: lineStyle(n).colour, values: item.ratio })),
    [data],
  )
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.lossLower}>
      {(losses) => {
        const start = Date.parse(losses.window.from ?? '') / 1_000
        const range: [number, number] = [start, Math.max(start + 1, Date.parse(losses.window.to ?? '') / 1_000)]
        const moment = cursor === null ? undefined : times[cursor]
        return (
          <div className={styles.view}>
            <p className={styles.moment}>
              {moment === undefined
                ? strings.stepLength(losses.interval === '1d' ? strings.dayUtc : strings.hour)
                : strings.valuesFrom(
                    formatMoment(new Date(moment * 1_000), clock),
                    lines.map((line) => `${line.label} ${formatRatio(line.values[cursor as number])}`).join('; '),
                  )}
            </p>
            <figure className={styles.chart}>
              <figcaption>
                <Term of="loss">{strings.loss}</Term>
                <PictureMenu title={strings.loss} />
              </figcaption>
              <SeriesChart
                times={times}
                range={range}
                clock={clock}
                theme={theme}
                onCursor={setCursor}
                onZoom={onZoom}
                group="losses"
                marks={marks}
                label={strings.lossOf(lines.map((line) => line.label).join(', '))}
                lines={lines}
                shape="steps"
                least={0.001}
                formatTicks={ratioTicks}
                height={260}
              />
            </figure>
            <MarkList marks={marks} clock={clock} />
            <Records
              label={strings.packetLoss}
              rows={losses.items}
              id={(item) => item.selection}
              columns={[
                { title: strings.selection, cell: (item) => item.title, as: 'head' },
                { title: strings.sent, cell: (item) => formatCount(item.sent_total), as: 'number' },
                { title: strings.lost, cell: (item) => formatCount(item.lost_total), as: 'number' },
                { title: strings.loss, cell: (item) => formatRatio(item.ratio_total), as: 'number' },
                { title: strings.withoutLoss, cell: (item) => formatRatio(item.lossless_share), as: 'number' },
                { title: statisticName('p50'), cell: (item) => formatRatio(item.ratio_p50), as: 'number' },
                { title: statisticName('p99'), cell: (item) => formatRatio(item.ratio_p99), as: 'number' },
                { title: strings.worst, cell: (item) => formatRatio(item.ratio_max), as: 'number' },
              ]}
            />
            <p className={styles.note}>
              {strings.lossStatistics(losses.interval === '1d' ? strings.days : strings.hours)}
            </p>
          </div>
        )
      }}
    </QueryResult>
  )
}
