import { Anchor } from '@mantine/core'
import type { TailStudy } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { labelled } from '~/lib/options'
import { formatCount, formatDelay, formatWhole, NO_VALUE, threeDigits } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { type Column, Records } from '~/ui/Records'
import advisors from '../advisors.module.css'
import { Legend } from '../Legend'
import { AlphaSearch } from './AlphaSearch'
import { GuardCommand } from './GuardCommand'
import { nameOf, type PolicyOutcome, seconds, showAlpha } from './outcomes'
import { BASELINES, FIGURES, type Figure, type TailSearch } from './question'
import { SourceComparison } from './SourceComparison'
import { strings } from './strings'

interface Props {
  study: TailStudy
  gains: TailSearch['gains']
  onGains: (gains: TailSearch['gains']) => void
}

/** Policies with their gains, curves of α, slowdown, sizes, and the figures of the source. */
export function StudyResults({ study, gains, onGains }: Props) {
  return (
    <div className={advisors.results}>
      <Panel title={strings.results}>
        <p className={pageStyles.lead}>
          {strings.summary(
            study.workload_name,
            formatCount(study.flows),
            formatCount(study.packets),
            threeDigits(study.offered_load),
          )}{' '}
          {study.searches.length > 0 && strings.foundOn}
        </p>
        <Anchor href={`/v1/jobs/${study.id}/output`} download="tail-study.json" size="sm">
          {strings.download}
        </Anchor>
        <Outcomes study={study} gains={gains} onGains={onGains} />
      </Panel>
      <GuardCommand outcomes={study.outcomes} />
      {study.searches.map((search) => (
        <AlphaSearch key={search.policy} search={search} objective={study.objective} />
      ))}
      <Slowdown outcomes={study.outcomes} />
      <Sizes outcomes={study.outcomes} />
      {study.beside_source.length > 0 && <SourceComparison rows={study.beside_source} />}
    </div>
  )
}

function Outcomes({ study, gains, onGains }: Props) {
  const there = BASELINES.filter((baseline) => study.outcomes.some(({ policy }) => policy === baseline))
  const baseline = there.find((each) => each === gains) ?? there.find((each) => each === 'las') ?? there[0]
  const figure = (of: Figure): Column<PolicyOutcome> => ({
    title: strings.figures[of],
    ...(of === 'tail_mean' ? { term: 'tail mean' } : {}),
    cell: (outcome) => {
      const gain = outcome.gains.find(({ against }) => against === baseline)?.gains[of]
      return (
        <>
          {seconds(outcome.figures[of])}
          {gain !== undefined && <div className={pageStyles.lead}>{change(gain)}</div>}
        </>
      )
    },
    as: 'number',
  })
  return (
    <>
      {baseline && (
        <Choice
          label={strings.gainsOver}
          value={baseline}
          data={labelled(strings.names, there)}
          onChange={onGains}
          maw={200}
        />
      )}
      <Records
        label={strings.results}
        rows={study.outcomes}
        id={(outcome) => nameOf(outcome)}
        columns={[
          {
            title: strings.policy,
            cell: (outcome, n) => (
              <>
                <LineKey n={n} /> {nameOf(outcome)}
              </>
            ),
            as: 'head',
          },
          { title: strings.alpha, term: 'α', cell: ({ alpha }) => showAlpha(alpha), as: 'number' },
          ...FIGURES.map(figure),
        ]}
      />
      <ul className={pageStyles.lead}>
        {[...new Set(study.outcomes.map(({ policy }) => policy))].map((policy) => (
          <li key={policy}>
            <strong>{strings.names[policy]}</strong>: {strings.meanings[policy]}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Return a gain in words; where a figure is more than twice the baseline, as a multiple of it. */
function change(gain: number): string {
  if (gain >= 0) return strings.lower(gain.toFixed(1))
  return gain < -100 ? strings.times(threeDigits(1 - gain / 100)) : strings.higher((-gain).toFixed(1))
}

function Slowdown({ outcomes }: { outcomes: PolicyOutcome[] }) {
  const lines = outcomes.map((outcome, n) => ({
    key: nameOf(outcome),
    label: nameOf(outcome),
    n,
    ...lineStyle(n),
    x: outcome.slowdown.map((value) => Math.log10(Math.max(1, value))),
    y: outcome.slowdown.map((_, at) => at / (outcome.slowdown.length - 1)),
  }))
  const most = Math.max(1, ...lines.flatMap(({ x }) => x))
  return (
    <Panel title={strings.slowdown}>
      <p className={pageStyles.lead}>{strings.slowdownLead}</p>
      <Legend lines={lines} />
      <CurveChart
        label={strings.slowdown}
        height={300}
        lines={lines}
        x={[0, Math.ceil(most)]}
        y={[0, 1]}
        ticksX={() => Array.from({ length: Math.ceil(most) + 1 }, (_, decade) => decade)}
        xLabel={strings.slowdownAxis}
        formatX={(value) => threeDigits(10 ** value)}
        formatY={formatWhole}
      />
    </Panel>
  )
}

function Sizes({ outcomes }: { outcomes: PolicyOutcome[] }) {
  const buckets = outcomes[0]?.buckets ?? []
  const rows = buckets.map((bucket, at) => ({ ...bucket, at }))
  return (
    <Panel title={strings.sizes}>
      <p className={pageStyles.lead}>{strings.sizesLead}</p>
      <Records
        label={strings.sizes}
        rows={rows}
        id={({ at }) => at}
        columns={[
          { title: strings.upTo, cell: ({ bytes_max }) => `${formatCount(bytes_max)} B`, as: 'head' },
          { title: strings.flows, cell: ({ flows }) => formatCount(flows), as: 'number' },
          ...outcomes.map(
            (outcome): Column<(typeof rows)[number]> => ({
              title: nameOf(outcome),
              cell: ({ at }) => {
                const p99_s = outcome.buckets[at]?.p99_s
                return p99_s == null ? NO_VALUE : formatDelay(1e9 * p99_s)
              },
              as: 'number',
            }),
          ),
        ]}
      />
    </Panel>
  )
}
