import { useComputedColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { rosterQuery } from '~/api/meshes'
import { type RuleInput, rulePreviewQuery } from '~/api/rules'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { tickLabels, title } from '~/lib/metrics'
import { named } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { formatMoment } from '~/lib/time'
import { formatDelay, formatRatio } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { ActionError, Loading, Notice } from '~/ui/State'
import { strings } from '../strings'
import { firings, firingWords } from './firings'
import styles from './rulePreview.module.css'
import { canBeDrawn } from './ruleWords'

const HOURS = { 1: strings.lastHour, 3: strings.last3Hours, 12: strings.last12Hours, 24: strings.last24Hours }

interface Props {
  meshId: string
  rule: RuleInput
  /** Names of the path the rule is about, if it is about one. */
  path: string[]
}

/** Draw the edited rule on one path: value, limit, and when it would fire. */
export function RulePreview({ meshId, rule, path }: Props) {
  const roster = useQuery(rosterQuery(meshId)).data
  const [ends, setEnds] = useState<{ source: string; target: string } | null>(null)
  const [hours, setHours] = useState('3')
  // Requested after a pause in typing, not at each key.
  const [text] = useDebouncedValue(JSON.stringify(rule), 400)
  const rested = useMemo(() => JSON.parse(text) as RuleInput, [text])
  const vms = roster?.vms ?? []
  const idOf = (name: string | undefined, otherwise: number) =>
    (vms.find((vm) => vm.name === name) ?? vms[otherwise])?.id ?? ''
  const source = ends?.source ?? idOf(path[0], 0)
  const target = ends?.target ?? idOf(path[1], 1)
  const data = named(vms)
  if (!canBeDrawn(rule.condition) || vms.length < 2) return null
  return (
    <Panel title={strings.previewOnPath}>
      <div className={pageStyles.form}>
        <Choice label={strings.from} value={source} onChange={(source) => setEnds({ source, target })} data={data} />
        <Choice
          label={strings.to}
          value={target}
          onChange={(value) => setEnds({ source, target: value })}
          data={data}
        />
        <Choice label={strings.period} value={hours} onChange={setHours} data={HOURS} />
      </div>
      {source === target ? (
        <Notice tone="info">{strings.chooseTwo}</Notice>
      ) : (
        <PreviewChart meshId={meshId} rule={rested} source={source} target={target} hours={Number(hours)} />
      )}
    </Panel>
  )
}

interface PreviewChartProps {
  meshId: string
  rule: RuleInput
  source: string
  target: string
  hours: number
}

function PreviewChart({ meshId, rule, source, target, hours }: PreviewChartProps) {
  const clock = useClock()
  const theme = useComputedColorScheme()
  const [cursor, setCursor] = useState<number | null>(null)
  const { data, error } = useQuery(rulePreviewQuery(meshId, rule, source, target, hours))
  const { metric, statistic, kind } = rule.condition
  const shown = title(metric ?? 'one_way_delay', kind === 'spike' ? 'max' : (statistic ?? 'p50'))
  const lines = useMemo(
    (): Line[] =>
      data
        ? [
            { label: shown, colour: 'var(--line-1)', values: data.values },
            { label: strings.limit, colour: 'var(--line-6)', values: data.limits },
            {
              label: strings.firing,
              colour: 'var(--bad)',
              values: data.values.map((value, at) => (data.firing[at] ? value : null)),
            },
          ]
        : [],
    [data, shown],
  )
  const times = useMemo(() => (data?.points_at ?? []).map((at) => Date.parse(at) / 1_000), [data])
  // The fields of the form say what is wrong with the rule.
  if (error instanceof Problem && error.status === 422) {
    return <p className={pageStyles.lead}>{strings.previewWhenValid}</p>
  }
  if (error && !data) return <ActionError error={error} />
  if (!data) return <Loading what={strings.pathLower} />
  const format = metric === 'loss' ? formatRatio : formatDelay
  const moment = cursor === null ? undefined : times[cursor]
  const end = times.at(-1) ?? Date.now() / 1_000
  return (
    <>
      <p className={pageStyles.lead}>
        {firingWords(firings(data.firing))}
        {data.limits.some((limit) => limit !== null) ? '' : strings.baselineUnknown} {data.notes.join(' ')}
      </p>
      <p className={styles.legend}>
        {lines.map((line) => (
          <span key={line.label}>
            <span className={styles.key} style={{ background: line.colour }} />
            {line.label}{' '}
            <strong>{cursor === null || line.label === 'Firing' ? '' : format(line.values[cursor])}</strong>
          </span>
        ))}
        <span>{moment === undefined ? '' : formatMoment(new Date(moment * 1_000), clock)}</span>
        <PictureMenu title={strings.previewOnPath} note={shown} />
      </p>
      <SeriesChart
        label={strings.previewSummary(shown, firingWords(firings(data.firing)))}
        times={times}
        range={[end - hours * 3600, end]}
        lines={lines}
        shape="line"
        {...(metric === 'loss' ? { least: 0.01 } : {})}
        formatTicks={(values) => {
          const { unit, labels } = tickLabels(metric ?? 'one_way_delay', values)
          return labels.map((label) => `${label} ${unit}`)
        }}
        height={220}
        group="rule"
        clock={clock}
        theme={theme}
        onCursor={setCursor}
      />
    </>
  )
}
