import { serverNow } from '~/api/connection'
import type { Incident } from '~/api/incidents'
import { recurrenceSentence } from '~/lib/recurrence'
import { formatAge, formatShortMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { SEVERITIES } from '~/ui/severity'
import { useNow } from '~/ui/useNow'
import { strings } from '../strings'
import styles from './incidents.module.css'

/** Sentences after the first: the worst path, and the direction. Suspects and costs have lists of their own. */
const SHOWN = 2

/** What notices say too: the change with its figures, since when, in which direction. */
export function Headline({ incident }: { incident: Incident }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const { onset_at, ended_at, severity, state, figures } = incident
  const [change, ...others] = figures.sentences
  const moment = (at: string) => formatShortMoment(at, clock, now)
  const lasted = formatAge(Date.parse(ended_at ?? new Date(now).toISOString()) - Date.parse(onset_at))
  return (
    <section
      className={styles.headline}
      aria-label={strings.summary}
      data-tone={state === 'resolved' ? 'good' : SEVERITIES[severity].tone}
    >
      {change && (
        <p>
          <strong>{change}</strong>
        </p>
      )}
      <p>
        {ended_at
          ? strings.lastedFromTo(lasted, moment(onset_at), moment(ended_at))
          : strings.since(moment(onset_at), lasted)}{' '}
        {recurrenceSentence(incident.recurrence, incident.seen_at)}
        {ended_at && `${strings.figuresOf(moment(figures.at))} `}
        {others.slice(0, SHOWN).join(' ')}
      </p>
    </section>
  )
}
