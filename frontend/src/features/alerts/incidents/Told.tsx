import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { Incident } from '~/api/incidents'
import { type Delivery, incidentDeliveriesQuery } from '~/api/receivers'
import { formatShortMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { pageStyles } from '~/ui/Page'
import { ActionError, Loading } from '~/ui/State'
import { DELIVERY_STATES } from '../deliveryWords'
import { strings } from '../strings'
import styles from './incidents.module.css'

/** Who was notified of an incident and when, and what is held. */
export function Told({ incident: { id, silenced_by } }: { incident: Incident }) {
  const clock = useClock()
  const { data, error } = useQuery(incidentDeliveriesQuery(id))
  const moment = (at: string) => formatShortMoment(at, clock, serverNow())
  if (!data) return error ? <ActionError error={error} /> : <Loading what={strings.notificationsLower} />
  if (data.length === 0) {
    return (
      <p className={pageStyles.lead}>
        {silenced_by ? (
          strings.notNotifiedSilenced
        ) : (
          <>
            {strings.notNotified} <Link to="/receivers">{strings.receiversAndRoutes}</Link>
          </>
        )}
      </p>
    )
  }
  return (
    <ul className={styles.told} aria-label={strings.notifications}>
      {data.map((delivery) => (
        <li key={delivery.id}>
          <strong>{delivery.receiver}</strong> {delivery.about}: {outcome(delivery, moment)}
          {delivery.state === 'failed' && delivery.answer && ` (${delivery.answer})`}
        </li>
      ))}
    </ul>
  )
}

function outcome({ state, held, due_at, sent_at, created_at }: Delivery, moment: (at: string) => string): string {
  if (state === 'waiting')
    return held ? strings.heldUntil(moment(due_at)) : strings.waitsUntil(DELIVERY_STATES.waiting, moment(due_at))
  return `${DELIVERY_STATES[state]} ${moment(sent_at ?? created_at)}`
}
