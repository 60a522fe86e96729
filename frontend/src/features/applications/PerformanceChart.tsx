import { SegmentedControl, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { serverNow } from '~/api/connection'
import { metricPairsQuery, metricSourcesQuery } from '~/api/metric-sources'
import { applicationHistoryQuery } from '~/api/overview'
import type { Application } from '~/api/types'
import { newest } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { formatWhole } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import styles from './applications.module.css'
import { meansOf } from './measured'
import { strings } from './strings'

const DAYS = [1, 7, 30]
const HEIGHT = 190
const DAY_S = 86_400
const seconds = (at: string) => Date.parse(at) / 1_000

/** The performance of an application over time, predicted and measured, with objective, incidents and moves. */
export function PerformanceChart({ application: { id, name, objective } }: { application: Application }) {
  const [days, setDays] = useState(1)
  const [cursor, setCursor] = useState<number | null>(null)
  const clock = useClock()
  const theme = useComputedColorScheme()
  const query = useQuery(applicationHistoryQuery(id, days))
  const { data: sources } = useQuery(metricSourcesQuery)
  const source = sources?.find(({ application_id }) => application_id === id)
  const { data: pairs } = useQuery({ ...metricPairsQuery(source?.id ?? ''), enabled: source !== undefined })
  const { data } = query
  const times = useMemo(() => (data?.points_at ?? []).map(seconds), [data])
  const lines = useMemo((): Line[] => {
    const measured = pairs && source && data && meansOf(pairs, source.metric, times, data.step_s)
    return [
      { label: strings.predicted, colour: lineStyle(0).colour, values: data?.performance ?? [] },
      ...(measured
        ? [{ label: strings.measuredBy(source.name), colour: lineStyle(1).colour, values: measured, isDashed: true }]
        : []),
    ]
  }, [data, pairs, source, times])
  const end = serverNow() / 1_000
  const at = cursor ?? newest(lines[0]?.values ?? [])
  return (
    <Panel title={strings.overTime} term="performance">
      <div className={styles.legend}>
        <SegmentedControl
          aria-label={strings.range}
          size="xs"
          value={String(days)}
          data={DAYS.map((count) => ({ value: String(count), label: strings.days(count) }))}
          onChange={(value) => setDays(Number(value))}
        />
        {at !== null &&
          lines.map(({ label, values }, n) => (
            <span key={label}>
              <LineKey n={n} /> {label} <strong>{formatShare(values[at])}</strong>
            </span>
          ))}
        <span>{strings.limitsAre(formatShare(objective), formatShare(data?.usual))}</span>
        {at !== null && <span>{formatMoment(new Date((times[at] ?? 0) * 1_000), clock)}</span>}
      </div>
      <div style={{ minHeight: HEIGHT }}>
        <QueryResult query={query} what={strings.performanceLower}>
          {({ incidents, moves, usual }) =>
            at === null ? (
              <p className={pageStyles.quiet}>{strings.nothingStored}</p>
            ) : (
              <SeriesChart
                label={strings.overTimeSummary(name, formatShare(usual))}
                times={times}
                range={[end - days * DAY_S, end]}
                lines={lines}
                shape="line"
                least={1}
                spans={incidents.map(({ title, onset_at, ended_at }) => ({
                  from: seconds(onset_at),
                  to: ended_at ? seconds(ended_at) : end,
                  label: title,
                  colour: 'var(--warn)',
                }))}
                limits={[
                  ...(objective === null ? [] : [{ label: strings.objective, value: objective, colour: 'var(--bad)' }]),
                  ...(usual === null ? [] : [{ label: strings.usual, value: usual, colour: 'var(--good)' }]),
                ]}
                marks={moves.map(({ recommendation_id, applied_at, moves: made }) => ({
                  id: recommendation_id,
                  label: strings.movesMade(made),
                  from: seconds(applied_at),
                  to: null,
                }))}
                formatTicks={(ticks) => ticks.map(formatWhole)}
                height={HEIGHT}
                group="application"
                clock={clock}
                theme={theme}
                onCursor={setCursor}
              />
            )
          }
        </QueryResult>
      </div>
      {source && <p className={pageStyles.quiet}>{strings.measuredShare}</p>}
    </Panel>
  )
}
