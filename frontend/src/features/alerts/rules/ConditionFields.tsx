import { NativeSelect } from '@mantine/core'
import { facts, METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { strings } from '../strings'
import { type Draft, type PartProps, unitName } from './draft'
import { draftNumbers } from './draftNumbers'
import { AMONG_OPTIONS, KINDS, TIMESCALE_OPTIONS } from './ruleWords'

/** The condition of a rule: its kind, and the fields of that kind. */
export function ConditionFields(part: PartProps) {
  const { draft, patch, wrong } = part
  const number = draftNumbers(part)
  const { kind, metric } = draft
  const unit = unitName(draft)
  const ofValue = kind === 'threshold' || kind === 'baseline'
  return (
    <Panel title={strings.condition}>
      <div className={pageStyles.form}>
        <NativeSelect
          label={strings.type}
          value={kind}
          onChange={(event) => patch({ kind: event.currentTarget.value as Draft['kind'] })}
          data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
          error={wrong('condition')}
          w={300}
        />
        {ofValue && (
          <NativeSelect
            label={strings.metric}
            value={metric}
            onChange={(event) => patch({ metric: event.currentTarget.value as Draft['metric'] })}
            data={METRIC_OPTIONS}
          />
        )}
        {ofValue && facts(metric).hasStatistic && (
          <NativeSelect
            label={<Term of="p99">{strings.statistic}</Term>}
            value={draft.statistic}
            onChange={(event) => patch({ statistic: event.currentTarget.value as Draft['statistic'] })}
            data={STATISTIC_OPTIONS}
          />
        )}
        {(kind === 'threshold' || kind === 'loss' || kind === 'performance' || kind === 'host') &&
          number('above', 'condition/above', {
            label:
              kind !== 'performance'
                ? strings.aboveUnit(unit)
                : draft.recursMin
                  ? strings.burnsAbove
                  : strings.belowObjectiveBy(unit),
            step: 'any',
            required: kind !== 'performance',
            w: 180,
          })}
        {kind === 'loss' &&
          number('overMin', 'condition/over_s', {
            label: strings.overMinutes,
            min: 5,
            max: 1440,
            step: 'any',
            error: wrong('condition/over_s') ?? wrong('condition'),
            w: 140,
          })}
        {(kind === 'baseline' || kind === 'performance') &&
          number('recursMin', 'condition/over_s', {
            label: kind === 'baseline' ? strings.recursMinutes : strings.burnsMinutes,
            description: kind === 'baseline' ? strings.recursHint : strings.burnsHint,
            min: kind === 'baseline' ? 5 : 60,
            max: 1440,
            step: 'any',
            error: wrong('condition/over_s') ?? wrong('condition'),
            w: 180,
            required: false,
          })}
        {kind === 'tokens' &&
          number('withinS', 'condition/within_s', {
            label: <Term of="token bucket">{strings.emptyWithin}</Term>,
            min: 1,
            max: 86_400,
            step: 1,
            error: wrong('condition/within_s') ?? wrong('condition'),
            w: 140,
          })}
        {kind === 'fairness' && (
          <>
            <NativeSelect
              label={strings.among}
              value={draft.among}
              onChange={(event) => patch({ among: event.currentTarget.value as Draft['among'] })}
              data={AMONG_OPTIONS}
              error={wrong('condition/among')}
            />
            {number('below', 'condition/below', {
              label: <Term of="fairness index">{strings.indexBelow}</Term>,
              min: 0.001,
              max: 1,
              step: 'any',
              error: wrong('condition/below') ?? wrong('condition'),
              w: 160,
            })}
          </>
        )}
        {(kind === 'baseline' || kind === 'spike') &&
          number('deviations', 'condition/deviations', {
            label: <Term of="standard deviation">{strings.deviations}</Term>,
            min: 0.1,
            max: 100,
            step: 'any',
            w: 190,
          })}
        {kind === 'baseline' && (
          <NativeSelect
            label={<Term of="baseline">{strings.baseline}</Term>}
            value={draft.timescale}
            onChange={(event) => patch({ timescale: event.currentTarget.value as Draft['timescale'] })}
            data={TIMESCALE_OPTIONS}
          />
        )}
        {(kind === 'baseline' || kind === 'spike') &&
          number('rise', 'condition/rise_ns', {
            label: kind === 'spike' ? strings.aboveMedianBy(unit) : strings.minimumRise(unit),
            min: kind === 'spike' ? 0.001 : 0,
            step: 'any',
            required: kind === 'spike',
            w: 180,
          })}
      </div>
    </Panel>
  )
}
