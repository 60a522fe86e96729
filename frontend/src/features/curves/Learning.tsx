import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
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
import { TextLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { PictureMenu } from '~/ui/PictureMenu'
import { ActionError, Loading, Notice } from '~/ui/State'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { Unloaded } from '~/ui/Unloaded'
import styles from './curves.module.css'
import { strings } from './strings'

/** The metric sources that refresh one curve. */
export function LearningOf({ curve }: { curve: CurveDetail }) {
  const { data: sources } = useQuery(metricSourcesQuery)
  const ofCurve = sources?.filter(({ curve_id }) => curve_id === curve.id) ?? []
  return (
    <section className={styles.panel} aria-label={strings.learningInProduction}>
      <h2>{strings.learningInProduction}</h2>
      {ofCurve.length === 0 && (
        <p className={styles.text}>
          {strings.noSourceForCurve}{' '}
          <TextLink underline="always" to="/curves/learning" search={{ curve: curve.id }}>
            {strings.learnInProductionLower}
          </TextLink>
          .
        </p>
      )}
      {ofCurve.map((source) => (
        <Source key={source.id} source={source} />
      ))}
    </section>
  )
}

/** Every metric source of the tenant. */
export function Sources() {
  const sources = useQuery(metricSourcesQuery)
  if (!sources.data) {
    return <Unloaded query={sources} what={strings.metricSourcesLower} failed={strings.metricSources} />
  }
  if (sources.data.length === 0) {
    return <NoRows>{strings.noMetricSources}</NoRows>
  }
  return sources.data.map((source) => (
    <section key={source.id} className={styles.panel} aria-label={source.name}>
      <h2>{source.name}</h2>
      <Source source={source} />
    </section>
  ))
}

const MARKS: Record<MetricSource['finding']['state'], [Status, string]> = {
  waiting: ['waiting', strings.statusWaiting],
  cannot_tell: ['warn', strings.statusInconclusive],
  learnt: ['good', strings.statusLearnt],
}

function Source({ source }: { source: MetricSource }) {
  const clock = useClock()
  const [shown, setShown] = useState(false)
  const { finding } = source
  const [status, word] = source.paused ? (['ended', strings.statusPaused] as const) : MARKS[finding.state]
  const latency = finding.latency_us
  return (
    <>
      <StatusMark status={status}>{word}</StatusMark>
      {source.read_error && (
        <Notice tone="bad" title={strings.metricUnreadable}>
          {source.read_error}
        </Notice>
      )}
      {finding.reasons.map((reason) => (
        <Notice key={reason.code} tone="warn">
          {reason.message}
        </Notice>
      ))}
      <dl className={styles.about}>
        <dt>{strings.metric}</dt>
        <dd>
          {source.kind === 'push'
            ? strings.pushedByApplication
            : strings.queryFrom(source.query ?? '', source.url ?? '')}
          {source.unit && `; ${source.unit}`}
        </dd>
        <dt>{strings.paths}</dt>
        <dd>{source.paths.map(({ source_name, target_name }) => `${source_name} → ${target_name}`).join(', ')}</dd>
        <dt>{strings.lastValue}</dt>
        <dd>
          <Age at={source.read_at} clock={clock} now={serverNow} />
        </dd>
        <dt>{strings.lastEvaluated}</dt>
        <dd>
          <Age at={source.judged_at} clock={clock} now={serverNow} />
          {finding.pairs > 0 && strings.minutesOfData(formatCount(finding.pairs))}
          {latency &&
            strings.latencyRange(formatMicroseconds(latency[0] as number), formatMicroseconds(latency[2] as number))}
        </dd>
        {source.curve_id && finding.curve_number !== null && (
          <>
            <dt>{strings.curve}</dt>
            <dd>
              <TextLink
                underline="always"
                to="/curves/$curveId"
                params={{ curveId: source.curve_id as string }}
                search={{ number: finding.curve_number as number }}
              >
                {strings.versionLower(finding.curve_number)}
              </TextLink>
              {strings.learnt} <Age at={source.learnt_at} clock={clock} now={serverNow} />
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
          {shown ? strings.hideData : strings.showData}
        </Button>
        {edits && (
          <>
            <Button size="xs" variant="default" loading={judge.isPending} onClick={() => judge.mutate(source.id)}>
              {strings.evaluateNow}
            </Button>
            <Button
              size="xs"
              variant="default"
              loading={pause.isPending}
              onClick={() => pause.mutate({ id: source.id, paused: !source.paused })}
            >
              {source.paused ? strings.resume : strings.pause}
            </Button>
            <Button size="xs" variant="default" onClick={() => setAsking(true)}>
              {strings.deleteEllipsis}
            </Button>
          </>
        )}
      </div>
      <ActionError error={judge.error ?? pause.error} />
      <Confirm
        title={strings.deleteName(source.name)}
        action={strings.delete}
        about={asking ? source.id : null}
        doing={remove}
        onClose={() => setAsking(false)}
      >
        {strings.deleteSourceEffect}
      </Confirm>
    </>
  )
}

/** Metric against round trip, one dot per minute. */
function Data({ source }: { source: MetricSource }) {
  const { data: pairs, error } = useQuery(metricPairsQuery(source.id))
  if (error) return <ActionError error={error} />
  if (!pairs) return <Loading what={strings.dataLower} />
  if (pairs.value.length === 0) {
    return <p className={styles.text}>{strings.noPairs}</p>
  }
  const most = Math.max(...pairs.value)
  const digits = most < 10 ? 2 : 0
  return (
    <figure>
      <PictureMenu title={source.name} note={source.unit} withTable={false} />
      <CurveChart
        label={strings.pairsSummary(source.name, pairs.value.length, most.toPrecision(3), source.unit)}
        height={280}
        lines={[]}
        dots={pairs.latency_us.map((x, i) => ({ x, y: pairs.value[i] as number, error: null }))}
        x={[0, Math.max(...pairs.latency_us) * 1.05]}
        y={[0, most * 1.05]}
        xLabel={strings.roundTripLower}
        formatX={formatTick}
        formatY={(value) => value.toFixed(digits)}
      />
    </figure>
  )
}
