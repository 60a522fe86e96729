import { Link } from '@tanstack/react-router'
import type { Incident } from '~/api/incidents'
import { formatPoints } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { Panel, pageStyles } from '~/ui/Page'
import { strings } from '../strings'
import styles from './incidents.module.css'
import { bucketSentence, hostSentences, reasonSentence, verdictSentence } from './verdictWords'

interface Props {
  incident: Incident
  verdict: NonNullable<Incident['verdict']>
}

/** The verdict: network, clock, agent, application, shaping or fairness, with its reasons. */
export function VerdictPanel({ incident, verdict: { kind, reasons, others } }: Props) {
  return (
    <Panel title={strings.applicationOrNetwork}>
      <div className={styles.verdict}>
        <p>
          <strong>{verdictSentence(kind, incident.culprit.suspect)}</strong>
        </p>
        <ul className={pageStyles.bullets}>
          {others.map(({ id, title, application, cost }) => (
            <li key={`${id} ${application}`}>
              <Link to="/incidents/$incidentId" params={{ incidentId: id }}>
                {sentenceCase(title)}
              </Link>{' '}
              {strings.costsApplication(application, formatPoints(cost))}
            </li>
          ))}
          {reasons.map((reason) => (
            <li key={reason.code}>{reasonSentence(reason, kind === 'clock')}</li>
          ))}
          {incident.evidence.hosts.flatMap(hostSentences).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {incident.evidence.token_bucket && <li>{bucketSentence(incident.evidence.token_bucket)}</li>}
        </ul>
      </div>
    </Panel>
  )
}
