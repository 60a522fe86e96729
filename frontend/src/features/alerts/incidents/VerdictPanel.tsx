import type { Incident } from '~/api/incidents'
import { Panel, pageStyles } from '~/ui/Page'
import { strings } from '../strings'
import styles from './incidents.module.css'
import { reasonSentence, VERDICTS } from './verdictWords'

/** The verdict: network, clock, agent or application, with its reasons. */
export function VerdictPanel({ verdict: { kind, reasons } }: { verdict: Incident['verdict'] }) {
  return (
    <Panel title={strings.applicationOrNetwork}>
      <div className={styles.verdict}>
        <p>
          <strong>{VERDICTS[kind]}</strong>
        </p>
        <ul className={pageStyles.bullets}>
          {reasons.map((reason) => (
            <li key={reason.code}>{reasonSentence(reason, kind === 'clock')}</li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}
