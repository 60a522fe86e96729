import { serverNow } from '~/api/connection'
import type { Incident } from '~/api/incidents'
import { costSentence } from '~/lib/costs'
import { recurrenceSentence } from '~/lib/recurrence'
import { formatAge, formatShortMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { SEVERITIES } from '~/ui/severity'
import { useNow } from '~/ui/useNow'
import { strings } from '../strings'
import { impactSentence } from './impactWords'
import styles from './incidents.module.css'

/** The headline: the change, its place, its size over usual, its start, and the applications that lose performance. */
export function Headline({ incident }: { incident: Incident }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const { onset_at, ended_at, severity, state, runbooks } = incident
  const impact = impactSentence(incident)
  const moment = (at: string) => formatShortMoment(at, clock, now)
  const lasted = formatAge(Date.parse(ended_at ?? new Date(now).toISOString()) - Date.parse(onset_at))
  return (
    <section
      className={styles.headline}
      aria-label={strings.summary}
      data-tone={state === 'resolved' ? 'good' : SEVERITIES[severity].tone}
    >
      {impact && (
        <p>
          <strong>{impact}</strong>
        </p>
      )}
      <p>
        {ended_at
          ? strings.lastedFromTo(lasted, moment(onset_at), moment(ended_at))
          : strings.since(moment(onset_at), lasted)}{' '}
        {recurrenceSentence(incident.recurrence, incident.seen_at)}
        {costSentence(incident)}
      </p>
      {runbooks?.length > 0 && (
        <p>
          {strings.runbookLead}{' '}
          {runbooks.map(({ rule, url }, at) => (
            <span key={rule}>
              {at > 0 && ', '}
              <a href={url} target="_blank" rel="noreferrer">
                {rule}
              </a>
            </span>
          ))}
        </p>
      )}
    </section>
  )
}
