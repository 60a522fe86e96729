import type { Recommendation } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { POLICIES, policyOf } from '~/lib/policies'
import { formatMoments } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { COUNTED, OBJECTIVES } from './names'
import { strings } from './strings'

/** Age of the newest window from which on it is stated, in seconds. */
const OLD_S = 120

const minutes = (seconds: number) => (seconds / 60).toFixed(seconds < 600 ? 1 : 0)

/** The basis of a recommendation: certificate, constraints, windows used and rejected alternatives. */
export function Proof({ recommendation }: { recommendation: Recommendation }) {
  const {
    broken,
    certificate,
    constraints,
    evidence,
    nomora,
    optimality,
    price_change_per_hour,
    racks_from,
    rejected,
  } = recommendation.result
  const { from, to } = evidence.window
  const clock = useClock()
  const policy = policyOf(POLICIES, recommendation.policy)
  const noise = evidence.min_gain < 0.0005 ? strings.lessThanTenth : formatShare(evidence.min_gain)
  return (
    <Panel title={strings.basis}>
      <p className={pageStyles.lead}>
        <Term of="policy">{strings.policyUsed}</Term> <i>{policy.name}</i>
        {recommendation.request.risk && `, ${COUNTED[recommendation.request.risk]}`}
        {strings.objectiveUsed} <i>{OBJECTIVES[recommendation.result.objective] ?? recommendation.result.objective}</i>.{' '}
        {policy.line}
      </p>
      {nomora && (
        <p className={pageStyles.lead}>
          {strings.parametersUsed(nomora.p_m, nomora.p_r, nomora.gamma, nomora.omega, nomora.beta)}{' '}
          {racks_from === 'labels' && strings.racksFromLabels}
          {racks_from === 'hosts' && strings.racksFromHosts}
          {racks_from === 'round_trips' && strings.racksFromRoundTrips}
        </p>
      )}
      {optimality && <p className={pageStyles.lead}>{optimality.words}</p>}
      {certificate && (
        <p className={pageStyles.lead}>
          {strings.costAndBound(certificate.words, formatCount(certificate.primal), formatCount(certificate.dual))}
        </p>
      )}
      {price_change_per_hour !== null && price_change_per_hour !== 0 && (
        <p className={pageStyles.lead}>
          {strings.priceChange(
            Math.abs(price_change_per_hour).toFixed(4),
            price_change_per_hour < 0 ? strings.lower : strings.higher,
          )}
        </p>
      )}
      <p className={pageStyles.lead}>
        {strings.windowsUsed(
          formatCount(evidence.chosen_on),
          evidence.chosen_on === 1 ? strings.window : strings.windows,
          formatCount(evidence.judged_on),
          evidence.judged_on === 1 ? strings.window : strings.windows,
        )}
        {evidence.blocks != null && evidence.blocks > 0 && strings.blocksUsed(formatCount(evidence.blocks))}
        {evidence.gap_s != null && evidence.gap_s > 0 && strings.gapKept(minutes(evidence.gap_s))}
        {from && to && `, ${formatMoments(new Date(from), new Date(to), clock)}`}
        {strings.pathsAndNoise(
          evidence.paths_assumed === 0
            ? strings.allPathsMeasured(formatCount(evidence.paths))
            : strings.somePathsMeasured(formatCount(evidence.paths_known), formatCount(evidence.paths)),
          noise,
        )}
      </p>
      {evidence.age_s != null && evidence.age_s > OLD_S && (
        <p className={pageStyles.lead}>{strings.oldMeasurements(minutes(evidence.age_s))}</p>
      )}
      <p className={pageStyles.lead}>{strings.constraintsKept(constraints.join('; '))}</p>
      <Sentences title={strings.brokenLimits} sentences={broken ?? []} />
      <Sentences title={strings.rejectedAlternatives} sentences={rejected} />
    </Panel>
  )
}

function Sentences({ title, sentences }: { title: string; sentences: string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul className={pageStyles.bullets}>
        {sentences.map((words) => (
          <li key={words} className={pageStyles.lead}>
            {words}
          </li>
        ))}
      </ul>
    </>
  )
}
