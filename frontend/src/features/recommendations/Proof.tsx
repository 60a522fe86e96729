import type { Recommendation } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatWindow } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'

const COUNTED = {
  mean: 'by the mean over all exchanges of a path',
  p99: 'by the 99th percentile of the exchanges of a path',
  cvar: 'by the slowest twentieth of the exchanges of a path',
}

/** What a recommendation rests on: the certificate, the limits it kept, the windows it saw, what it rejected. */
export function Proof({ found }: { found: Recommendation }) {
  const { best_found, certificate, constraints, evidence, price_change_per_hour, rejected } = found.answer
  const { from, to } = evidence.window
  const clock = useClock()
  const noise = evidence.hysteresis < 0.0005 ? 'less than 0.1 %' : formatShare(evidence.hysteresis)
  return (
    <Panel title="What it rests on">
      <p className={pageStyles.lead}>
        Looked for by the policy <i>{found.policy}</i>
        {found.question.policy === 'robust' && `, ${COUNTED[found.question.risk]}`}, with the objective{' '}
        <i>{found.answer.objective}</i>.
      </p>
      {certificate && (
        <p className={pageStyles.lead}>
          {certificate.words} Cost {formatCount(certificate.primal)}, proven bound {formatCount(certificate.dual)}.
        </p>
      )}
      {best_found && <p className={pageStyles.lead}>{best_found.words}</p>}
      {price_change_per_hour !== null && price_change_per_hour !== 0 && (
        <p className={pageStyles.lead}>
          An hour costs {Math.abs(price_change_per_hour).toFixed(4)} {price_change_per_hour < 0 ? 'less' : 'more'} once
          VMs without tasks are given back.
        </p>
      )}
      <p className={pageStyles.lead}>
        Chosen on {formatCount(evidence.chosen_on)} {evidence.chosen_on === 1 ? 'window' : 'windows'}, judged on{' '}
        {formatCount(evidence.judged_on)} {evidence.judged_on === 1 ? 'other' : 'others'}
        {from && to && `, ${formatWindow(new Date(from), new Date(to), clock)}`};{' '}
        {evidence.paths_assumed === 0
          ? `all ${formatCount(evidence.paths)} paths were measured`
          : `${formatCount(evidence.paths_known)} of ${formatCount(evidence.paths)} paths were measured, the rest taken from their zones`}
        . A move must gain its task more than noise may promise it: {noise}.
      </p>
      <p className={pageStyles.lead}>Kept: {constraints.join('; ')}.</p>
      {rejected.length > 0 && (
        <>
          <h3>Looked at and left</h3>
          <ul>
            {rejected.map((words) => (
              <li key={words} className={pageStyles.lead}>
                {words}
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}
