import type { Outcome, Recommendation } from '~/api/types'
import { formatChange, formatChanges } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Notice, type Tone } from '~/ui/State'
import { strings } from './strings'

const TONES: Record<Outcome['verdict'], Tone> = { held: 'good', not_held: 'warn', cannot_tell: 'info' }
const TITLES: Record<Outcome['verdict'], string> = {
  held: strings.verdictHeld,
  not_held: strings.verdictNotHeld,
  cannot_tell: strings.verdictCannotTell,
}
const WORDS: Record<Outcome['verdict'], string> = {
  held: strings.heldLower,
  not_held: strings.notHeldLower,
  cannot_tell: strings.cannotTellLower,
}
const BASES: Record<Outcome['judged_by'], string> = {
  metric: strings.judgedByMetric,
  delays: strings.judgedByDelays,
  both: strings.judgedByBoth,
}

/** The promised and the measured result of applied moves, or a note that they were undone. */
export function MeasuredResult({ recommendation }: { recommendation: Recommendation }) {
  const { outcome } = recommendation
  if (recommendation.state === 'undone') {
    return (
      <Notice tone="info" title={strings.undoneTitle}>
        {recommendation.reason}
      </Notice>
    )
  }
  if (!outcome) return null
  return (
    <Panel title={strings.result}>
      <Notice tone={TONES[outcome.verdict]} title={TITLES[outcome.verdict]}>
        {outcome.reason}
      </Notice>
      <Records
        label={strings.result}
        rows={rowsOf(outcome)}
        id={({ id }) => id}
        columns={[
          { title: strings.application, cell: ({ name }) => name, as: 'head' },
          { title: strings.promisedGain, cell: ({ promised }) => <Interval of={promised} />, as: 'number' },
          { title: strings.observedGain, cell: ({ observed }) => <Interval of={observed} />, as: 'number' },
          { title: strings.verdict, cell: ({ verdict }) => WORDS[verdict] },
          { title: strings.judgedBy, cell: ({ basis }) => basis },
          { title: strings.reason, cell: ({ reason }) => reason, as: 'quiet' },
        ]}
      />
      <p className={pageStyles.lead}>{BASES[outcome.judged_by]}</p>
    </Panel>
  )
}

type Row = Pick<Outcome, 'promised' | 'observed' | 'verdict' | 'reason'> & { id: string; name: string; basis: string }

/** Return a row for each moved application, and one for all when there are several or an old outcome lists none. */
function rowsOf(outcome: Outcome): Row[] {
  const rows = outcome.applications.map((one) => ({
    ...one,
    id: one.application.id,
    name: one.application.name,
    basis:
      one.judged_by === 'metric'
        ? strings.basisMetric(names(one.metric_sources), one.controls.length === 0 ? NO_VALUE : names(one.controls))
        : strings.basisDelays,
  }))
  if (rows.length === 1) return rows
  const total = { ...outcome, id: 'all', name: strings.allApplications(formatCount(rows.length)), basis: NO_VALUE }
  return [total, ...rows]
}

const names = (named: { name: string }[]) => named.map(({ name }) => name).join(', ')

function Interval({ of }: { of: Outcome['observed'] }) {
  if (!of) return NO_VALUE
  return (
    <>
      {formatChange(of.mean)}{' '}
      <span className={pageStyles.quiet}>{strings.interval(...formatChanges(of.low, of.high))}</span>
    </>
  )
}
