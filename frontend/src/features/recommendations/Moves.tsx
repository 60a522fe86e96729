import type { Move } from '~/api/types'
import { formatProbability, formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { formatDelay, formatTrip } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import styles from './recommendations.module.css'
import { strings } from './strings'

/** The moves in the order to make them, each with its reasons. */
export function Moves({ steps }: { steps: Move[] }) {
  const clock = useClock()
  return (
    <ol className={styles.moves} aria-label={strings.movesInOrder}>
      {steps.map((step) => (
        <li key={step.position} className={styles.move}>
          <h3>
            {step.application.name} / {step.task.name}: {step.source?.name ?? strings.noVm} → {step.target.name}
          </h3>
          <dl className={styles.facts}>
            <div>
              <dt>
                <Term of="round trip">{strings.roundTrip}</Term>
              </dt>
              <dd>
                {step.round_trip_before_ns !== null && `${formatTrip(step.round_trip_before_ns)} → `}
                {formatTrip(step.round_trip_after_ns)}
              </dd>
            </div>
            <div>
              <dt>
                <Term of="performance">{strings.taskPerformance}</Term>
              </dt>
              <dd>
                {formatShare(step.gain?.before.mean)} → {formatShare(step.gain?.after.mean)}
              </dd>
            </div>
            <div>
              <dt>{strings.gainProbability}</dt>
              <dd>{formatProbability(step.gain?.probability)}</dd>
            </div>
            {step.slack_us !== null && (
              <div>
                <dt>
                  <Term of="latency margin">{strings.latencyMargin}</Term>
                </dt>
                <dd>{formatDelay(step.slack_us * 1_000)}</dd>
              </div>
            )}
          </dl>
          <p>{step.explanation}</p>
          {step.made_at && <p>{strings.madeAt(formatMoment(new Date(step.made_at), clock))}</p>}
          {step.via && <p>{strings.goesVia(step.via.name, step.target.name)}</p>}
          {step.disturbs.length > 0 && <p className={pageStyles.quiet}>{strings.alsoOn(step.disturbs.join(', '))}</p>}
          <p className={pageStyles.quiet}>{step.rollback}</p>
        </li>
      ))}
    </ol>
  )
}
