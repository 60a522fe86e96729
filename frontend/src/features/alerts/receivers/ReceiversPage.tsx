import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import {
  deliveriesQuery,
  type Receiver,
  receiversQuery,
  routingQuery,
  useDeleteReceiver,
  useTestReceiver,
  useWriteRouting,
} from '~/api/receivers'
import { actOnRows, idsOf } from '~/lib/inTurn'
import { NO_VALUE } from '~/lib/units'
import type { Bulk } from '~/ui/BulkBar'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { NoRows } from '~/ui/NoRows'
import { Page } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { strings } from '../strings'
import { DeliveryLog } from './DeliveryLog'
import { EditReceiver } from './EditReceiver'
import { NewReceiver } from './NewReceiver'
import { Routes } from './Routes'
import { atRoot, destination, isAtRoot, RECEIVER_KINDS, receivedHeartbeats, receivedIncidents } from './receiverWords'

/** Receivers, routes and the log of deliveries. */
export function ReceiversPage() {
  const receivers = useQuery(receiversQuery)
  // What follows the list appears together with it, so that nothing moves.
  const others = [useQuery(deliveriesQuery), useQuery(routingQuery)]
  const edits = useEdits()
  if (!receivers.data) {
    const { whoIsTold: title, receiversLower: what, receivers: failed } = strings
    return <Unloaded {...{ query: receivers, title, what, failed }} />
  }
  return (
    <Page
      title={strings.whoIsTold}
      lead={strings.receiversLead}
      action={
        edits && <CreateDrawer label={strings.newReceiver}>{(close) => <NewReceiver onDone={close} />}</CreateDrawer>
      }
    >
      {receivers.data.length === 0 ? (
        <NoRows>{strings.noReceivers}</NoRows>
      ) : (
        <List receivers={receivers.data} edits={edits} />
      )}
      {!others.some(({ isPending }) => isPending) && (
        <>
          {receivers.data.length > 0 && <Routes edits={edits} />}
          <DeliveryLog />
        </>
      )}
    </Page>
  )
}

function List({ receivers, edits }: { receivers: Receiver[]; edits: boolean }) {
  const routing = useQuery(routingQuery).data
  const write = useWriteRouting()
  const test = useTestReceiver()
  const remove = useDeleteReceiver()
  const [changing, setChanging] = useState<Receiver | null>(null)

  const bulk: Bulk<Receiver> = {
    nouns: [strings.receiverNoun, strings.receiversLower],
    name: ({ name }) => name,
    actions: [
      { label: strings.test, run: (rows, watch) => test.each(idsOf(rows), watch) },
      actOnRows(strings.delete, remove, strings.deleteReceiversEffect),
    ],
  }

  const actions = (receiver: Receiver) => {
    const isDefault = routing !== undefined && isAtRoot(routing.root, receiver.name)
    return (
      <Group gap="sm" wrap="nowrap">
        <RowAction label={strings.testName(receiver.name)} onClick={() => test.mutate(receiver.id)}>
          {strings.test}
        </RowAction>
        {routing && receiver.kind !== 'heartbeat' && (
          <RowAction
            label={isDefault ? strings.removeAsDefault(receiver.name) : strings.makeDefault(receiver.name)}
            onClick={() => write.mutate({ root: atRoot(routing.root, receiver.name, !isDefault), etag: routing.etag })}
          >
            {isDefault ? strings.removeDefault : strings.makeDefaultShort}
          </RowAction>
        )}
        <RowAction label={strings.editName(receiver.name)} onClick={() => setChanging(receiver)}>
          {strings.edit}
        </RowAction>
      </Group>
    )
  }

  return (
    <>
      <ActionError error={write.error ?? test.error} />
      {test.data && <Tested deliveryId={test.data.id} name={test.data.receiver} />}
      <RecordList
        label={strings.receivers}
        rows={receivers}
        id={(receiver) => receiver.id}
        bulk={edits && bulk}
        columns={[
          {
            title: strings.receiver,
            cell: (receiver) => receiver.name,
            as: 'head',
            by: { key: 'name', value: (receiver) => receiver.name },
          },
          {
            title: strings.kind,
            cell: (receiver) => RECEIVER_KINDS[receiver.kind],
            by: { key: 'kind', value: (receiver) => RECEIVER_KINDS[receiver.kind] },
          },
          { title: strings.destination, cell: destination, as: 'wrap' },
          {
            title: strings.receives,
            cell: (receiver) => {
              if (receiver.kind === 'heartbeat') return receivedHeartbeats(receiver, serverNow())
              return routing ? receivedIncidents(routing.root, receiver.name) : NO_VALUE
            },
          },
          ...(edits ? [{ title: strings.actions, cell: actions }] : []),
        ]}
      />
      <EditReceiver receiver={changing} onClose={() => setChanging(null)} />
    </>
  )
}

/** The result of the newest test, once the log has it. */
function Tested({ deliveryId, name }: { deliveryId: string; name: string }) {
  const delivery = useQuery(deliveriesQuery).data?.find(({ id }) => id === deliveryId)
  if (delivery?.state === 'sent') {
    return (
      <Notice tone="good" title={strings.testDelivered(name)}>
        {delivery.answer}
      </Notice>
    )
  }
  if (delivery?.state === 'failed' || (delivery && delivery.attempts > 0)) {
    return (
      <Notice tone="bad" title={strings.testFailed(name)}>
        {delivery.answer}
      </Notice>
    )
  }
  return <Notice tone="info">{strings.testSending(name)}</Notice>
}
