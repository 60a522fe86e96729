import { NativeSelect } from '@mantine/core'
import { facts, METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { strings } from '../strings'
import { type Draft, type PartProps, unitName } from './draft'
import { AMONG_OPTIONS, KINDS, TIMESCALE_OPTIONS } from './ruleWords'

/** The condition of a rule: its kind, and the fields of that kind. */
export function ConditionFields({ draft, patch, wrong }: PartProps) {
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
        {(kind === 'threshold' || kind === 'loss' || kind === 'performance' || kind === 'host') && (
          <NumberField
            label={
              kind !== 'performance'
                ? strings.aboveUnit(unit)
                : draft.recursMin
                  ? strings.burnsAbove
                  : strings.belowObjectiveBy(unit)
            }
            min={0}
            step="any"
            required={kind !== 'performance'}
            value={draft.above}
            onChange={(event) => patch({ above: event.currentTarget.value })}
            error={wrong('condition/above')}
            w={180}
          />
        )}
        {kind === 'loss' && (
          <NumberField
            label={strings.overMinutes}
            min={5}
            max={1440}
            step="any"
            required
            value={draft.overMin}
            onChange={(event) => patch({ overMin: event.currentTarget.value })}
            error={wrong('condition/over_s') ?? wrong('condition')}
            w={140}
          />
        )}
        {(kind === 'baseline' || kind === 'performance') && (
          <NumberField
            label={kind === 'baseline' ? strings.recursMinutes : strings.burnsMinutes}
            description={kind === 'baseline' ? strings.recursHint : strings.burnsHint}
            min={kind === 'baseline' ? 5 : 60}
            max={1440}
            step="any"
            value={draft.recursMin}
            onChange={(event) => patch({ recursMin: event.currentTarget.value })}
            error={wrong('condition/over_s') ?? wrong('condition')}
            w={180}
          />
        )}
        {kind === 'tokens' && (
          <NumberField
            label={<Term of="token bucket">{strings.emptyWithin}</Term>}
            min={1}
            max={86_400}
            step={1}
            required
            value={draft.withinS}
            onChange={(event) => patch({ withinS: event.currentTarget.value })}
            error={wrong('condition/within_s') ?? wrong('condition')}
            w={140}
          />
        )}
        {kind === 'fairness' && (
          <>
            <NativeSelect
              label={strings.among}
              value={draft.among}
              onChange={(event) => patch({ among: event.currentTarget.value as Draft['among'] })}
              data={AMONG_OPTIONS}
              error={wrong('condition/among')}
            />
            <NumberField
              label={<Term of="fairness index">{strings.indexBelow}</Term>}
              min={0.001}
              max={1}
              step="any"
              required
              value={draft.below}
              onChange={(event) => patch({ below: event.currentTarget.value })}
              error={wrong('condition/below') ?? wrong('condition')}
              w={160}
            />
          </>
        )}
        {(kind === 'baseline' || kind === 'spike') && (
          <NumberField
            label={<Term of="standard deviation">{strings.deviations}</Term>}
            min={0.1}
            max={100}
            step="any"
            required
            value={draft.deviations}
            onChange={(event) => patch({ deviations: event.currentTarget.value })}
            error={wrong('condition/deviations')}
            w={120}
          />
        )}
        {kind === 'baseline' && (
          <NativeSelect
            label={<Term of="baseline">{strings.baseline}</Term>}
            value={draft.timescale}
            onChange={(event) => patch({ timescale: event.currentTarget.value as Draft['timescale'] })}
            data={TIMESCALE_OPTIONS}
          />
        )}
        {(kind === 'baseline' || kind === 'spike') && (
          <NumberField
            label={kind === 'spike' ? strings.aboveMedianBy(unit) : strings.minimumRise(unit)}
            min={kind === 'spike' ? 0.001 : 0}
            step="any"
            required={kind === 'spike'}
            value={draft.rise}
            onChange={(event) => patch({ rise: event.currentTarget.value })}
            error={wrong('condition/rise_ns')}
            w={180}
          />
        )}
      </div>
    </Panel>
  )
}
