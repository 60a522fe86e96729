import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Incident } from '~/api/incidents'
import { overviewQuery } from '~/api/overview'
import { formatShare } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { Panel, pageStyles } from '~/ui/Page'
import { strings } from '../strings'
import { causesOf } from './causes'
import styles from './incidents.module.css'
import { bucketSentence, reasonSentence, VERDICTS } from './verdictWords'

interface Props {
  incident: Incident
  verdict: NonNullable<Incident['verdict']>
}

/** The verdict: network, clock, agent, application or shaping, with its reasons. */
export function VerdictPanel({ incident, verdict: { kind, reasons } }: Props) {
  const isOfApplication = kind === 'application' && incident.state !== 'resolved'
  const overview = useQuery({ ...overviewQuery, enabled: isOfApplication })
  const causes = isOfApplication ? causesOf(incident, overview.data?.meshes ?? []) : []
  return (
    <Panel title={strings.applicationOrNetwork}>
      <div className={styles.verdict}>
        <p>
          <strong>{causes.length > 0 ? strings.verdictOtherIncident : VERDICTS[kind]}</strong>
        </p>
        <ul className={pageStyles.bullets}>
          {causes.map(({ id, title, name, cost }) => (
            <li key={`${id} ${name}`}>
              <Link to="/incidents/$incidentId" params={{ incidentId: id }}>
                {sentenceCase(title)}
              </Link>{' '}
              {strings.costsApplication(name, formatShare(cost))}
            </li>
          ))}
          {reasons.map((reason) => (
            <li key={reason.code}>{reasonSentence(reason, kind === 'clock')}</li>
          ))}
          {incident.evidence.token_bucket && <li>{bucketSentence(incident.evidence.token_bucket)}</li>}
        </ul>
      </div>
    </Panel>
  )
}
