import { facts, METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import { Choice } from '~/ui/Choice'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { strings } from '../strings'
import { type PartProps, unitName } from './draft'
import { draftNumbers } from './draftNumbers'
import { AMONG_OPTIONS, KINDS, TIMESCALES } from './ruleWords'

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
        <Choice
          label={strings.type}
          value={kind}
          onChange={(kind) => patch({ kind })}
          data={KINDS}
          error={wrong('condition')}
          w={300}
        />
        {ofValue && (
          <Choice
            label={strings.metric}
            value={metric}
            onChange={(metric) => patch({ metric })}
            data={METRIC_OPTIONS}
          />
        )}
        {ofValue && facts(metric).hasStatistic && (
          <Choice
            label={<Term of="p99">{strings.statistic}</Term>}
            value={draft.statistic}
            onChange={(statistic) => patch({ statistic })}
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
            <Choice
              label={strings.among}
              value={draft.among}
              onChange={(among) => patch({ among })}
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
          <Choice
            label={<Term of="baseline">{strings.baseline}</Term>}
            value={draft.timescale}
            onChange={(timescale) => patch({ timescale })}
            data={TIMESCALES}
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
