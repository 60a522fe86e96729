import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useAnnotationMarks } from '~/api/annotations'
import { exploreRange, manySeriesQuery } from '~/api/explore'
import { summary } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { facts, tickLabels, title } from '~/lib/metrics'
import { formatMoment } from '~/lib/time'
import { formatRatio, ratioTicks } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { MarkList } from '~/ui/MarkList'
import { PictureMenu } from '~/ui/PictureMenu'
import { Term } from '~/ui/Term'
import { useZoomTime } from '~/ui/time'
import styles from './explore.module.css'
import { QueryResult, type ViewProps } from './QueryResult'
import { strings } from './strings'

/** Several selections over the same time, under one cursor. */
export function SeriesView({ meshId, parameters, clock }: ViewProps) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const options = manySeriesQuery(meshId, parameters)
  const query = useQuery(options)
  const marks = useAnnotationMarks(meshId, exploreRange(parameters))
  const [cursor, setCursor] = useState<number | null>(null)
  const onZoom = useZoomTime()
  const data = query.data
  const times = useMemo(() => (data?.points_at ?? []).map((at) => Date.parse(at) / 1_000), [data])
  const statistic = parameters.statistic
  const lines = useMemo(
    (): Line[] =>
      (data?.items ?? []).map((item, n) => ({
        label: item.title,
        colour: lineStyle(n).colour,
        values: item.values[statistic] ?? [],
        ...(item.clock_error_ns.some((error) => error !== null) && data?.metric === 'one_way_delay'
          ? { error: item.clock_error_ns }
          : {}),
      })),
    [data, statistic],
  )
  const losses = useMemo(
    (): Line[] =>
      (data?.items ?? []).map((item, n) => ({ label: item.title, colour: lineStyle(n).colour, values: item.loss })),
    [data],
  )
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.seriesLower}>
      {(response) => {
        const { format } = facts(response.metric)
        const start = Date.parse(response.window.from ?? '') / 1_000
        const range: [number, number] = [start, Math.max(start + 1, Date.parse(response.window.to ?? '') / 1_000)]
        const moment = cursor === null ? undefined : times[cursor]
        const known = lines.some((line) => summary(line.values))
        const shared = { times, range, clock, theme, onCursor: setCursor, onZoom, group: 'explore', marks }
        return (
          <div className={styles.view}>
            <p className={styles.moment}>
              {moment === undefined
                ? strings.resolution(response.resolution_s)
                : formatMoment(new Date(moment * 1_000), clock)}
              {!known && strings.noMeasurementsSentence}
            </p>
            <ul className={styles.values}>
              {lines.map((line, n) => {
                const value = cursor === null ? undefined : line.values[cursor]
                const summed = summary(line.values)
                return (
                  <li key={line.label}>
                    <span className={styles.key} style={{ background: line.colour }} />
                    {line.label}
                    <strong>
                      {value == null
                        ? summed
                          ? strings.valueRange(format(summed.least), format(summed.most))
                          : strings.noValue
                        : format(value)}
                    </strong>
                    {cursor !== null && <span>{strings.lossValue(formatRatio(losses[n]?.values[cursor]))}</span>}
                  </li>
                )
              })}
            </ul>
            <figure className={styles.chart}>
              <figcaption>
                <Term of={facts(response.metric).name}>{title(response.metric, statistic)}</Term>
                <PictureMenu title={title(response.metric, statistic)} />
              </figcaption>
              <SeriesChart
                {...shared}
                label={strings.metricOf(title(response.metric, statistic), lines.map((line) => line.label).join(', '))}
                lines={lines}
                shape="line"
                {...(response.metric === 'loss' ? { least: 0.01 } : {})}
                formatTicks={(values) => {
                  const { unit, labels } = tickLabels(response.metric, values)
                  return labels.map((label) => `${label} ${unit}`)
                }}
                height={300}
              />
            </figure>
            {response.metric !== 'loss' && (
              <figure className={styles.chart}>
                <figcaption>
                  {strings.loss}
                  <PictureMenu title={strings.loss} />
                </figcaption>
                <SeriesChart
                  {...shared}
                  label={strings.lossOf(lines.map((line) => line.label).join(', '))}
                  lines={losses}
                  shape="steps"
                  least={0.01}
                  formatTicks={ratioTicks}
                  height={120}
                />
              </figure>
            )}
            <MarkList marks={marks} clock={clock} />
          </div>
        )
      }}
    </QueryResult>
  )
}
