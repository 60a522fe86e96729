import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import {
  metricPairsQuery,
  metricSourcesQuery,
  useDeleteMetricSource,
  useJudgeMetricSource,
  usePauseMetricSource,
} from '~/api/metric-sources'
import type { CurveDetail, MetricSource } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { formatMicroseconds, formatTick } from '~/lib/performance'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { ActionError, Failed, Loading, Notice } from '~/ui/State'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { useEdits } from '../session/useEdits'
import styles from './curves.module.css'

/** The metric sources that refresh one curve. */
export function LearningOf({ curve }: { curve: CurveDetail }) {
  const { data: sources } = useQuery(metricSourcesQuery)
  const mine = sources?.filter(({ curve_id }) => curve_id === curve.id) ?? []
  return (
    <section className={styles.panel} aria-label="Learning in production">
      <h2>Learning in production</h2>
      {mine.length === 0 && (
        <p className={styles.text}>
          Nothing refreshes this curve. Send the application’s own metric, and what latency costs is learnt while it
          runs:{' '}
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(root) => <Link {...root} to="/curves/learning" search={{ curve: curve.id }} />}
          >
            learn in production
          </Anchor>
          .
        </p>
      )}
      {mine.map((source) => (
        <Source key={source.id} source={source} />
      ))}
    </section>
  )
}

/** Every metric source of the tenant. */
export function Sources() {
  const sources = useQuery(metricSourcesQuery)
  if (sources.error && !sources.data) {
    return <Failed what="The metric sources" error={sources.error} retry={() => void sources.refetch()} />
  }
  if (!sources.data) return <Loading what="metric sources" />
  if (sources.data.length === 0) return <p className={styles.text}>No application sends its metric yet.</p>
  return sources.data.map((source) => (
    <section key={source.id} className={styles.panel} aria-label={source.name}>
      <h2>{source.name}</h2>
      <Source source={source} />
    </section>
  ))
}

const MARKS: Record<MetricSource['finding']['state'], [Status, string]> = {
  waiting: ['waiting', 'Waiting for data'],
  cannot_tell: ['warn', 'Cannot tell yet'],
  learnt: ['good', 'Learnt'],
}

function Source({ source }: { source: MetricSource }) {
  const clock = useClock()
  const [shown, setShown] = useState(false)
  const { finding } = source
  const [status, word] = source.paused ? (['ended', 'Paused'] as const) : MARKS[finding.state]
  const latency = finding.latency_us
  return (
    <>
      <StatusMark status={status}>{word}</StatusMark>
      {source.read_error && (
        <Notice tone="bad" title="The metric cannot be read.">
          {source.read_error}
        </Notice>
      )}
      {finding.reasons.map((reason) => (
        <Notice key={reason.code} tone="warn">
          {reason.message}
        </Notice>
      ))}
      <dl className={styles.about}>
        <dt>Metric</dt>
        <dd>
          {source.kind === 'push' ? 'pushed by the application' : `${source.query} from ${source.url}`}
          {source.unit && `; ${source.unit}`}
        </dd>
        <dt>Paths</dt>
        <dd>{source.paths.map(({ source_name, target_name }) => `${source_name} → ${target_name}`).join(', ')}</dd>
        <dt>Last value</dt>
        <dd>
          <Age at={source.read_at} clock={clock} now={serverNow} />
        </dd>
        <dt>Looked at</dt>
        <dd>
          <Age at={source.judged_at} clock={clock} now={serverNow} />
          {finding.pairs > 0 && `; ${formatCount(finding.pairs)} minutes with metric and latency`}
          {latency &&
            `, round trips from ${formatMicroseconds(latency[0] as number)} to ${formatMicroseconds(latency[2] as number)}`}
        </dd>
        {source.curve_id && finding.curve_number !== null && (
          <>
            <dt>Curve</dt>
            <dd>
              <Anchor
                size="sm"
                underline="always"
                renderRoot={(root) => (
                  <Link
                    {...root}
                    to="/curves/$curveId"
                    params={{ curveId: source.curve_id as string }}
                    search={{ number: finding.curve_number as number }}
                  />
                )}
              >
                version {finding.curve_number}
              </Anchor>
              , learnt <Age at={source.learnt_at} clock={clock} now={serverNow} />
            </dd>
          </>
        )}
      </dl>
      <Doings source={source} shown={shown} onShow={() => setShown(!shown)} />
      {shown && <Data source={source} />}
    </>
  )
}

function Doings({ source, shown, onShow }: { source: MetricSource; shown: boolean; onShow: () => void }) {
  const edits = useEdits()
  const judge = useJudgeMetricSource()
  const pause = usePauseMetricSource()
  const remove = useDeleteMetricSource()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <div className={styles.place}>
        <Button size="xs" variant="default" onClick={onShow} aria-expanded={shown}>
          {shown ? 'Hide the data' : 'Show the data'}
        </Button>
        {edits && (
          <>
            <Button size="xs" variant="default" loading={judge.isPending} onClick={() => judge.mutate(source.id)}>
              Look now
            </Button>
            <Button
              size="xs"
              variant="default"
              loading={pause.isPending}
              onClick={() => pause.mutate({ id: source.id, paused: !source.paused })}
            >
              {source.paused ? 'Go on' : 'Pause'}
            </Button>
            <Button size="xs" variant="default" onClick={() => setAsking(true)}>
              Forget…
            </Button>
          </>
        )}
      </div>
      <ActionError error={judge.error ?? pause.error} />
      <Confirm
        title={`Forget ${source.name}`}
        action="Forget"
        about={asking ? source.id : null}
        doing={remove}
        onClose={() => setAsking(false)}
      >
        Its values are gone then. Curves that were learnt from them stay.
      </Confirm>
    </>
  )
}

/** Metric against round trip, a dot a minute. */
function Data({ source }: { source: MetricSource }) {
  const { data: pairs, error } = useQuery(metricPairsQuery(source.id))
  if (error) return <ActionError error={error} />
  if (!pairs) return <Loading what="the data" />
  if (pairs.value.length === 0) {
    return <p className={styles.text}>No minute has both the metric and a round trip of every path yet.</p>
  }
  const most = Math.max(...pairs.value)
  const digits = most < 10 ? 2 : 0
  return (
    <CurveChart
      label={`${source.name}: ${pairs.value.length} minutes, metric up to ${most.toPrecision(3)} ${source.unit} against the round trip`}
      height={280}
      lines={[]}
      dots={pairs.latency_us.map((x, i) => ({ x, y: pairs.value[i] as number, error: null }))}
      x={[0, Math.max(...pairs.latency_us) * 1.05]}
      y={[0, most * 1.05]}
      xLabel="round trip"
      formatX={formatTick}
      formatY={(value) => value.toFixed(digits)}
    />
  )
}
