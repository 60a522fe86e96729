import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { Incident } from '~/api/incidents'
import { incidentDeliveriesQuery } from '~/api/receivers'
import { formatCount } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { ActionError, Loading } from '~/ui/State'
import { DELIVERY_STATES } from '../deliveryWords'
import { strings } from '../strings'

/** Notifications of an incident: receiver, time and result. */
export function Notifications({ incident: { id, silenced_by } }: { incident: Incident }) {
  const clock = useClock()
  const { data, error } = useQuery(incidentDeliveriesQuery(id))
  return (
    <Panel title={strings.notifications}>
      {error && !data ? (
        <ActionError error={error} />
      ) : !data ? (
        <Loading what={strings.notificationsLower} />
      ) : data.length === 0 ? (
        <p className={pageStyles.lead}>
          {silenced_by ? (
            strings.notNotifiedSilenced
          ) : (
            <>
              {strings.notNotified} <Link to="/receivers">{strings.receiversAndRoutes}</Link>
            </>
          )}
        </p>
      ) : (
        <Records
          label={strings.notifications}
          rows={data}
          id={(delivery) => delivery.id}
          columns={[
            { title: strings.receiver, cell: ({ receiver }) => receiver, as: 'head' },
            { title: strings.subject, cell: ({ about }) => about },
            { title: strings.state, cell: ({ state }) => DELIVERY_STATES[state] },
            {
              title: strings.time,
              cell: ({ sent_at, created_at }) => <Age at={sent_at ?? created_at} clock={clock} now={serverNow} />,
            },
            { title: strings.attempts, cell: ({ attempts }) => formatCount(attempts), as: 'number' },
            { title: strings.response, cell: ({ answer }) => answer, as: 'wrap' },
          ]}
        />
      )}
    </Panel>
  )
}
