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
import { useClock } from '~/ui/clock'
import { IncidentRows } from '~/ui/IncidentRows'
import { TextLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { QueryResult } from '~/ui/QueryResult'
import styles from './applications.module.css'
import { meansOf } from './measured'
import { strings } from './strings'

const DAYS = [1, 7, 30]
const HEIGHT = 190
const DAY_S = 86_400

/** The performance of an application over time, predicted and measured, with objective, incidents and moves. */
export function PerformanceChart({ application }: { application: Application }) {
  const [days, setDays] = useState(1)
  const [cursor, setCursor] = useState<number | null>(null)
  const clock = useClock()
  const theme = useComputedColorScheme()
  const query = useQuery(applicationHistoryQuery(application.id, days))
  const { data: sources } = useQuery(metricSourcesQuery)
  const source = sources?.find(({ application_id }) => application_id === application.id)
  const { data: pairs } = useQuery({ ...metricPairsQuery(source?.id ?? ''), enabled: source !== undefined })
  const data = query.data
  const times = useMemo(() => (data?.points_at ?? []).map((at) => Date.parse(at) / 1_000), [data])
  const lines = useMemo((): Line[] => {
    const predicted = { label: strings.predicted, colour: 'var(--line-1)', values: data?.performance ?? [] }
    if (!pairs || !source || !data) return [predicted]
    const values = meansOf(pairs, source.metric, times, data.step_s)
    return [predicted, { label: strings.measuredBy(source.name), colour: 'var(--line-2)', values }]
  }, [data, pairs, source, times])
  const end = Math.max(serverNow() / 1_000, (times.at(-1) ?? 0) + (data?.step_s ?? 0))
  const at = cursor ?? newest(lines[0]?.values ?? [])
  const moment = at === null ? undefined : times[at]
  const spans = (data?.incidents ?? []).map(({ onset_at, ended_at, severity }) => ({
    from: Date.parse(onset_at) / 1_000,
    to: ended_at ? Date.parse(ended_at) / 1_000 : end,
    label: strings.incident,
    colour: severity === 'critical' ? 'var(--bad)' : 'var(--warn)',
  }))
  // One that recurs is shaded once for each time, and listed once.
  const incidents = [...new Map(data?.incidents.toReversed().map((one) => [one.id, one])).values()].toReversed()
  const marks = (data?.moves ?? []).map(({ recommendation_id: id, applied_at, moves }) => ({
    id,
    label: strings.movesMade(moves),
    from: Date.parse(applied_at) / 1_000,
    to: null,
  }))
  const limits = [
    ...(application.objective === null
      ? []
      : [{ label: strings.objective, value: application.objective, colour: 'var(--bad)' }]),
    ...(data?.usual == null ? [] : [{ label: strings.usual, value: data.usual, colour: 'var(--good)' }]),
  ]
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
        {lines.map(({ label, colour, values }) => (
          <span key={label}>
            <i style={{ background: colour }} /> {label} <strong>{at === null ? '' : formatShare(values[at])}</strong>
          </span>
        ))}
        {limits.map(({ label, value, colour }) => (
          <span key={label}>
            <i data-dashed style={{ borderColor: colour }} /> {label} <strong>{formatShare(value)}</strong>
          </span>
        ))}
        <span>{moment === undefined ? '' : formatMoment(new Date(moment * 1_000), clock)}</span>
        <PictureMenu title={application.name} note={strings.overTime} />
      </div>
      <QueryResult query={query} what={strings.performanceLower}>
        {() =>
          newest(lines[0]?.values ?? []) === null ? (
            <p className={pageStyles.quiet}>{strings.nothingStored}</p>
          ) : (
            <SeriesChart
              label={strings.overTimeSummary(application.name, formatShare(data?.usual))}
              times={times}
              range={[end - days * DAY_S, end]}
              lines={lines}
              shape="line"
              least={1}
              spans={spans}
              limits={limits}
              marks={marks}
              formatTicks={(ticks) => ticks.map((tick) => `${Math.round(tick * 100)} %`)}
              height={HEIGHT}
              group="application"
              clock={clock}
              theme={theme}
              onCursor={setCursor}
            />
          )
        }
      </QueryResult>
      {incidents.length > 0 && <IncidentRows rows={incidents} now={serverNow} />}
      {marks.length > 0 && (
        <ul className={pageStyles.bullets}>
          {marks.map(({ id, label, from }) => (
            <li key={id}>
              <TextLink size="sm" to="/recommendations/$recommendationId" params={{ recommendationId: id }}>
                {label}
              </TextLink>{' '}
              {formatMoment(new Date(from * 1_000), clock)}
            </li>
          ))}
        </ul>
      )}
      {source && <p className={pageStyles.quiet}>{strings.measuredShare}</p>}
    </Panel>
  )
}
