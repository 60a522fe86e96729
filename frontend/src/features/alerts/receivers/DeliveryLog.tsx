import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { type Delivery, deliveriesQuery, useRedeliver } from '~/api/receivers'
import { sentenceCase } from '~/lib/text'
import { formatShortMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Loading } from '~/ui/State'
import { DELIVERY_STATES } from '../deliveryWords'
import { strings } from '../strings'

// Retries wait for seconds; the end of an incident for a quarter of an hour or more.
const HELD_MS = 60_000

/** The newest hundred deliveries with state and response. */
export function DeliveryLog() {
  const clock = useClock()
  const { data, error } = useQuery(deliveriesQuery)
  const redeliver = useRedeliver()
  const edits = useEdits()
  const again = ({ id, receiver, state }: Delivery) =>
    state !== 'waiting' && (
      <RowAction label={strings.sendAgainTo(receiver)} onClick={() => redeliver.mutate(id)}>
        {strings.sendAgain}
      </RowAction>
    )
  return (
    <Panel title={strings.deliveries}>
      {error && !data ? (
        <ActionError error={error} />
      ) : !data ? (
        <Loading what={strings.deliveriesLower} />
      ) : data.length === 0 ? (
        <p className={pageStyles.lead}>{strings.noDeliveries}</p>
      ) : (
        <Records
          label={strings.deliveries}
          rows={data}
          id={(delivery) => delivery.id}
          columns={[
            { title: strings.receiver, cell: (delivery) => delivery.receiver, as: 'head' },
            { title: strings.subject, cell: (delivery) => <About delivery={delivery} />, as: 'wrap' },
            { title: strings.state, cell: (delivery) => <State delivery={delivery} /> },
            { title: strings.attempts, cell: (delivery) => formatCount(delivery.attempts), as: 'number' },
            {
              title: strings.created,
              cell: (delivery) => <Age at={delivery.created_at} clock={clock} now={serverNow} />,
            },
            { title: strings.response, cell: (delivery) => delivery.answer, as: 'wrap' },
            ...(edits ? [{ title: strings.actions, cell: (delivery: Delivery) => again(delivery) }] : []),
          ]}
        />
      )}
      <ActionError error={redeliver.error} />
    </Panel>
  )
}

/** The state; of a notification that is held back, until when. */
function State({ delivery: { state, attempts, due_at, held } }: { delivery: Delivery }) {
  const clock = useClock()
  if (held && state === 'sent') return strings.sentTogether(DELIVERY_STATES[state])
  if (held && state === 'waiting') return strings.heldUntil(formatShortMoment(due_at, clock, serverNow()))
  const isHeld = state === 'waiting' && attempts === 0 && Date.parse(due_at) > serverNow() + HELD_MS
  return isHeld
    ? strings.waitsUntil(DELIVERY_STATES[state], formatShortMoment(due_at, clock, serverNow()))
    : DELIVERY_STATES[state]
}

function About({ delivery: { about, incident_id, title } }: { delivery: Delivery }) {
  if (incident_id === null) return about
  return (
    <TextLink to="/incidents/$incidentId" params={{ incidentId: incident_id }}>
      {title ? strings.aboutIncident(sentenceCase(title), about) : about}
    </TextLink>
  )
}
