import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { serverNow } from '~/api/connection'
import type { Impact, Incident } from '~/api/incidents'
import { seriesSinceQuery } from '~/api/measurements'
import { newest } from '~/charts/series/lines'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import type { Limit, Span } from '~/charts/series/spans'
import { tickLabels, title } from '~/lib/metrics'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'
import { linkTime, timeAround, valuesOf, valueWords } from './impactWords'
import styles from './incidents.module.css'

const HEIGHT = 190

/** The affected metric of the worst path around an incident, with its usual value and the limit of the rule. */
export function ValuePanel({ incident }: { incident: Incident }) {
  const { impact } = incident.evidence
  const path = impact?.worst[0]
  if (!impact || !path || impact.metric === 'jitter') return null
  return (
    <section className={styles.part} aria-label={strings.valueOverTime}>
      <WorstPath incident={incident} impact={impact} path={path} />
    </section>
  )
}

interface Props {
  incident: Incident
  impact: Impact
  path: Impact['worst'][number]
}

function WorstPath({ incident, impact, path }: Props) {
  const { source, target, usual, limit } = path
  const { onset_at, ended_at, mesh } = incident
  const { metric, statistic } = impact
  const clock = useClock()
  const theme = useComputedColorScheme()
  const [cursor, setCursor] = useState<number | null>(null)
  // The start of the range stays while an incident continues, so that each refetch adds to the same picture.
  const [opened] = useState(serverNow)
  const around = timeAround(incident, opened)
  const from = new Date(around.from).toISOString()
  const to = ended_at ? new Date(around.to).toISOString() : undefined
  const { data, error } = useQuery(seriesSinceQuery(mesh.id, source.id, target.id, from, to, statistic))
  const shown = title(metric, statistic)
  const lines = useMemo(
    (): Line[] => [{ label: shown, colour: 'var(--line-1)', values: (data && valuesOf(data, metric)) ?? [] }],
    [data, metric, shown],
  )
  const times = useMemo(() => (data?.points_at ?? []).map((at) => Date.parse(at) / 1_000), [data])
  const end = Math.max(around.to / 1_000, (times.at(-1) ?? 0) + (data?.resolution_s ?? 0))
  const spans = useMemo(
    (): Span[] => [
      {
        from: Date.parse(onset_at) / 1_000,
        to: ended_at ? Date.parse(ended_at) / 1_000 : end,
        label: strings.incident,
        colour: 'var(--bad)',
      },
    ],
    [onset_at, ended_at, end],
  )
  const limits = useMemo(
    (): Limit[] => [
      ...(usual === null ? [] : [{ label: strings.usual, value: usual, colour: 'var(--good)' }]),
      ...(limit === null ? [] : [{ label: strings.limit, value: limit, colour: 'var(--bad)' }]),
    ],
    [usual, limit],
  )
  const values = lines[0]?.values ?? []
  const at = cursor ?? newest(values)
  const moment = at === null ? undefined : times[at]
  const words = (value: number | null | undefined) => valueWords(metric, value)
  const isEmpty = data && newest(values) === null
  return (
    <>
      <p className={pageStyles.lead}>
        {strings.worstPath}{' '}
        <TextLink
          underline="always"
          to="/meshes/$meshId/paths/$source/$target"
          params={{ meshId: mesh.id, source: source.id, target: target.id }}
          search={linkTime(incident)}
        >
          {strings.pathName(source.name, target.name)}
        </TextLink>
        . {isEmpty && strings.noStoredValues}
      </p>
      <p className={styles.legend}>
        <span>
          <span className={styles.key} style={{ background: 'var(--line-1)' }} />
          {shown} <strong>{at === null ? '' : words(values[at])}</strong>
        </span>
        {limits.map(({ label, value, colour }) => (
          <span key={label}>
            <span className={styles.dash} style={{ borderColor: colour }} />
            {label} <strong>{words(value)}</strong>
          </span>
        ))}
        <span>
          <span className={styles.shade} />
          {strings.incident}
        </span>
        <span>{moment === undefined ? '' : formatMoment(new Date(moment * 1_000), clock)}</span>
        <PictureMenu title={strings.pathName(source.name, target.name)} note={shown} />
      </p>
      <div style={{ height: HEIGHT }}>
        {error && !data ? (
          <ActionError error={error} />
        ) : (
          data && (
            <SeriesChart
              label={strings.valueSummary(
                shown,
                strings.pathName(source.name, target.name),
                limits.map((one) => `${one.label.toLowerCase()} ${words(one.value)}`).join(', '),
              )}
              times={times}
              range={[around.from / 1_000, end]}
              lines={lines}
              shape={metric === 'loss' ? 'steps' : 'line'}
              {...(metric === 'loss' ? { least: 0.01 } : {})}
              spans={spans}
              limits={limits}
              formatTicks={(ticks) => {
                const { unit, labels } = tickLabels(metric, ticks)
                return labels.map((label) => `${label} ${unit}`)
              }}
              height={HEIGHT}
              group="incident"
              clock={clock}
              theme={theme}
              onCursor={setCursor}
            />
          )
        )}
      </div>
    </>
  )
}
