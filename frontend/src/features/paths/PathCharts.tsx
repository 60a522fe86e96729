import { useCallback, useMemo, useState } from 'react'
import { pathRange } from '~/api/measurements'
import type { Deviation, Series } from '~/api/types'
import { newest, summary, type Values } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import type { Span } from '~/charts/series/spans'
import type { TimeMark } from '~/lib/annotations'
import type { Statistic } from '~/lib/dimensions'
import { statisticName } from '~/lib/metrics'
import { isMoving, type TimeSearch } from '~/lib/spans'
import { type Clock, formatMoment } from '~/lib/time'
import { formatBound, formatDelay, formatRatio, ratioTicks } from '~/lib/units'
import { MarkList } from '~/ui/MarkList'
import { PictureMenu } from '~/ui/PictureMenu'
import { Term } from '~/ui/Term'
import { useZoomTime } from '~/ui/time'
import { delayTicks } from './delayTicks'
import { type EarlierSeries, valuesAt } from './earlierSeries'
import styles from './paths.module.css'
import { strings } from './strings'
import { usualLine } from './usual'

interface Props {
  /** Undefined while it loads: the charts are empty then, and as high as later. */
  series: Series | undefined
  /** The usual p50 of each direction now. */
  usual?: { outbound: Deviation | undefined; inbound: Deviation | undefined }
  statistic: Statistic
  /** The same path in the period of the comparison. */
  earlier: EarlierSeries | undefined
  time: TimeSearch
  clock: Clock
  theme: string
  waiting: boolean
  /** Annotations within the range; undefined while they load. */
  marks: TimeMark[] | undefined
  /** Times to shade: incidents. */
  spans?: readonly Span[]
}

/** The dashed line of the earlier period, if there is one. */
function earlierLine(
  earlier: EarlierSeries | undefined,
  direction: 'outbound' | 'inbound' | 'round_trip',
  times: number[],
  { label, colour }: { label: string; colour: string },
): Line[] {
  if (!earlier) return []
  const values = valuesAt(times, earlier, earlier.series[direction].delay_ns)
  return [{ label: strings.earlierOf(label), colour, isDashed: true, values }]
}

/** "from 61.2 µs to 84.0 µs, 2 gaps" */
function inWords(values: Values, format: (value: number) => string): string {
  const summed = summary(values)
  if (!summed) return strings.noValue
  const { least, most, gaps } = summed
  return strings.valueRange(format(least), format(most), gaps > 0 ? strings.gaps(gaps) : '')
}

// One object: another one would redraw the charts.
const NO_SPANS: readonly Span[] = []

/** Of each chart, in pixels. */
const HEIGHTS = { delay: 260, roundTrip: 170, loss: 130 }

const NOTHING: Pick<Series, 'points_at' | 'resolution_s' | 'outbound' | 'inbound' | 'round_trip'> = {
  points_at: [],
  resolution_s: 0,
  outbound: { delay_ns: [], clock_error_ns: [], loss: [] },
  inbound: { delay_ns: [], clock_error_ns: [], loss: [] },
  round_trip: { delay_ns: [], loss: [] },
}

/** One-way delays, round trip and loss over the same time, with a common cursor. */
export function PathCharts({
  series: loaded,
  usual,
  earlier,
  statistic,
  time,
  clock,
  theme,
  waiting,
  marks,
  spans = NO_SPANS,
}: Props) {
  const series = loaded ?? NOTHING
  const [cursor, setCursor] = useState<number | null>(null)
  const onCursor = useCallback((index: number | null) => setCursor(index), [])
  const times = useMemo(() => series.points_at.map((at) => Date.parse(at) / 1_000), [series])
  const range = useMemo((): [number, number] => {
    const asked = pathRange(time)
    const [start, end] = [asked.from, asked.to].map((at) => Date.parse(at) / 1_000) as [number, number]
    // The newest window may end after the clock of this machine.
    const late = isMoving(time) ? Math.max(0, (times.at(-1) ?? 0) + series.resolution_s - end) : 0
    return [start + late, end + late]
  }, [times, time, series.resolution_s])
  const zoom = useZoomTime()
  const delays = useMemo(
    (): Line[] => [
      {
        label: strings.outbound,
        colour: 'var(--outbound)',
        values: series.outbound.delay_ns,
        error: series.outbound.clock_error_ns,
      },
      {
        label: strings.inbound,
        colour: 'var(--inbound)',
        values: series.inbound.delay_ns,
        error: series.inbound.clock_error_ns,
      },
      ...earlierLine(earlier, 'outbound', times, { label: strings.outbound, colour: 'var(--outbound)' }),
      ...earlierLine(earlier, 'inbound', times, { label: strings.inbound, colour: 'var(--inbound)' }),
    ],
    [series, earlier, times],
  )
  const usualLines = useMemo(
    (): Line[] =>
      // Only the p50 of now has a usual value, and dashes are what it is compared with if that was chosen.
      statistic === 'p50' && usual && isMoving(time) && !earlier
        ? [
            ...usualLine(usual.outbound, { label: strings.usualOutbound, colour: 'var(--outbound)' }, times),
            ...usualLine(usual.inbound, { label: strings.usualInbound, colour: 'var(--inbound)' }, times),
          ]
        : [],
    [usual, statistic, time, earlier, times],
  )
  const drawn = useMemo(() => [...delays, ...usualLines], [delays, usualLines])
  const roundTrips = useMemo(
    (): Line[] => [
      { label: strings.roundTrip, colour: 'var(--round-trip)', values: series.round_trip.delay_ns },
      ...earlierLine(earlier, 'round_trip', times, { label: strings.roundTrip, colour: 'var(--round-trip)' }),
    ],
    [series, earlier, times],
  )
  const losses = useMemo(
    (): Line[] => [
      { label: strings.outbound, colour: 'var(--outbound)', values: series.outbound.loss },
      { label: strings.inbound, colour: 'var(--inbound)', values: series.inbound.loss },
    ],
    [series],
  )
  const known = newest(series.round_trip.delay_ns) ?? newest(series.outbound.delay_ns)
  const at = cursor ?? known
  const moment = at === null ? undefined : times[at]
  const shared = { times, range, clock, theme, onCursor, group: 'path', onZoom: zoom, marks, spans }
  return (
    <div className={styles.charts} data-waiting={waiting || undefined} aria-busy={!loaded}>
      <p className={styles.moment}>
        {moment === undefined
          ? loaded
            ? strings.noMeasurements
            : strings.loadingHistory
          : `${cursor === null ? strings.newest : ''}${formatMoment(new Date(moment * 1_000), clock)}`}
        {loaded && (
          <span>
            {loaded.resolution_s === 60 ? strings.onePointAMinute : strings.onePointEvery(loaded.resolution_s)}
          </span>
        )}
      </p>
      <Chart
        title={strings.oneWayDelay(statisticName(statistic))}
        term="one-way delay"
        note={strings.bandIsClockError}
        lines={delays}
        at={at}
        format={formatDelay}
        withError
        height={HEIGHTS.delay}
        isEmpty={!loaded}
        footnote={earlier || !isMoving(time) ? '' : usualWords(statistic, usual)}
      >
        <SeriesChart
          {...shared}
          label={strings.oneWayDelaySummary(
            statisticName(statistic),
            delays.map((line) => `${line.label} ${inWords(line.values, formatDelay)}`).join('; '),
          )}
          lines={drawn}
          shape="line"
          formatTicks={delayTicks}
          height={HEIGHTS.delay}
        />
      </Chart>
      <Chart
        title={strings.roundTripStatistic(statisticName(statistic))}
        term="round trip"
        note={strings.noClock}
        lines={roundTrips}
        at={at}
        format={formatDelay}
        height={HEIGHTS.roundTrip}
        isEmpty={!loaded}
      >
        <SeriesChart
          {...shared}
          label={strings.roundTripSummary(statisticName(statistic), inWords(series.round_trip.delay_ns, formatDelay))}
          lines={roundTrips}
          shape="line"
          formatTicks={delayTicks}
          height={HEIGHTS.roundTrip}
        />
      </Chart>
      <Chart
        title={strings.loss}
        term="loss"
        lines={losses}
        at={at}
        format={formatRatio}
        height={HEIGHTS.loss}
        isEmpty={!loaded}
      >
        <SeriesChart
          {...shared}
          label={strings.lossSummary(
            losses.map((line) => `${line.label} ${inWords(line.values, formatRatio)}`).join('; '),
          )}
          lines={losses}
          shape="steps"
          least={0.01}
          formatTicks={ratioTicks}
          height={HEIGHTS.loss}
        />
      </Chart>
      <MarkList marks={marks} clock={clock} />
    </div>
  )
}

const BASES: Record<NonNullable<Deviation['basis']>, string> = {
  same_hour: strings.sameHour,
  last_day: strings.lastDay,
  last_hour: strings.lastHour,
  all_hours: strings.lastDay,
}

/** Return the usual p50 of both directions as a sentence; empty while it loads. */
function usualWords(statistic: Statistic, usual: Props['usual']): string {
  if (statistic !== 'p50') return strings.usualOfP50
  const { outbound, inbound } = usual ?? {}
  if (!outbound || !inbound) return ''
  const basis = outbound.basis ?? inbound.basis
  if (basis === null) return strings.noUsual
  const band = ({ baseline_ns, dead_band_ns }: Deviation) =>
    baseline_ns === null ? strings.unknown : strings.withBand(formatDelay(baseline_ns), formatBound(dead_band_ns))
  return strings.usualBand(band(outbound), band(inbound), BASES[basis])
}

interface ChartProps {
  title: string
  /** Glossary term of the title. */
  term: string
  note?: string
  lines: Line[]
  at: number | null
  format: (value: number | null | undefined) => string
  withError?: boolean
  height: number
  /** True while there is nothing to draw yet. */
  isEmpty: boolean
  /** A sentence below the chart, whose room is kept while it is empty; none where undefined. */
  footnote?: string
  children: React.ReactNode
}

/** A chart under its title, with the values at the cursor. */
function Chart({ title, term, note, lines, at, format, withError, height, isEmpty, footnote, children }: ChartProps) {
  return (
    <figure className={styles.chart}>
      <figcaption>
        <h2>
          <Term of={term}>{title}</Term>
        </h2>
        {note && <span className={styles.note}>{note}</span>}
        <span className={styles.values}>
          {lines.map((line) => (
            <span key={line.label} className={styles.value}>
              <span className={styles.key} style={{ background: line.colour }} />
              {line.label}
              <strong>{format(at === null ? null : line.values[at])}</strong>
              {withError && at !== null && line.error?.[at] != null && (
                <span className={styles.note}>{formatBound(line.error[at])}</span>
              )}
            </span>
          ))}
        </span>
        <PictureMenu title={title} note={note} />
      </figcaption>
      <div style={{ height }}>{!isEmpty && children}</div>
      {footnote !== undefined && <p className={styles.footnote}>{footnote}</p>}
    </figure>
  )
}
