import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  deliveriesQuery,
  type Receiver,
  receiversQuery,
  routingQuery,
  useDeleteReceiver,
  useTestReceiver,
  useWriteRouting,
} from '~/api/receivers'
import { NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { Page, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Failed, Loading, Notice } from '~/ui/State'
import { useEdits } from '../session/useEdits'
import { DeliveryLog } from './DeliveryLog'
import { EditReceiver } from './EditReceiver'
import { NewReceiver } from './NewReceiver'
import { Routes } from './Routes'
import { atRoot, destination, hears, isAtRoot, RECEIVER_KINDS } from './receiverWords'
import { strings } from './strings'

/** Where notifications go, whether they arrive, and what was sent. */
export function ReceiversPage() {
  const receivers = useQuery(receiversQuery)
  const edits = useEdits()
  if (receivers.error && !receivers.data) {
    return <Failed what={strings.receivers} error={receivers.error} retry={() => void receivers.refetch()} />
  }
  return (
    <Page title={strings.receivers} lead={strings.receiversLead}>
      {!receivers.data ? (
        <Loading what={strings.receiversLower} />
      ) : receivers.data.length === 0 ? (
        <p className={pageStyles.lead}>{strings.noReceivers}</p>
      ) : (
        <List receivers={receivers.data} edits={edits} />
      )}
      {edits && <NewReceiver />}
      {receivers.data && receivers.data.length > 0 && <Routes edits={edits} />}
      <DeliveryLog />
    </Page>
  )
}

function List({ receivers, edits }: { receivers: Receiver[]; edits: boolean }) {
  const routing = useQuery(routingQuery).data
  const write = useWriteRouting()
  const test = useTestReceiver()
  const remove = useDeleteReceiver()
  const [deleting, setDeleting] = useState<Receiver | null>(null)
  const [changing, setChanging] = useState<Receiver | null>(null)

  const actions = (one: Receiver) => {
    const told = routing !== undefined && isAtRoot(routing.root, one.name)
    return (
      <Group gap="sm" wrap="nowrap">
        <RowAction label={strings.testReceiver(one.name)} onClick={() => test.mutate(one.id)}>
          {strings.test}
        </RowAction>
        {routing && (
          <RowAction
            label={told ? strings.removeAsDefault(one.name) : strings.makeDefault(one.name)}
            onClick={() => write.mutate({ root: atRoot(routing.root, one.name, !told), etag: routing.etag })}
          >
            {told ? strings.removeDefault : strings.makeDefaultShort}
          </RowAction>
        )}
        <RowAction label={strings.editReceiver(one.name)} onClick={() => setChanging(one)}>
          {strings.edit}
        </RowAction>
        <RowAction label={strings.deleteName(one.name)} onClick={() => setDeleting(one)}>
          {strings.delete}
        </RowAction>
      </Group>
    )
  }

  return (
    <>
      <ActionError error={write.error ?? test.error} />
      {test.data && <Tested deliveryId={test.data.id} name={test.data.receiver} />}
      <Records
        label={strings.receivers}
        rows={receivers}
        id={(one) => one.id}
        columns={[
          { title: strings.receiver, cell: (one) => one.name, as: 'head' },
          { title: strings.kind, cell: (one) => RECEIVER_KINDS[one.kind] },
          { title: strings.destination, cell: destination, as: 'wrap' },
          { title: strings.receives, cell: (one) => (routing ? hears(routing.root, one.name) : NO_VALUE) },
          ...(edits ? [{ title: strings.actions, cell: actions }] : []),
        ]}
      />
      <EditReceiver receiver={changing} onClose={() => setChanging(null)} />
      <Confirm
        title={strings.deleteName(deleting?.name ?? '')}
        action={strings.delete}
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        {strings.deleteReceiverEffect}
      </Confirm>
    </>
  )
}

/** What came of the newest test, once the log knows. */
function Tested({ deliveryId, name }: { deliveryId: string; name: string }) {
  const found = useQuery(deliveriesQuery).data?.find(({ id }) => id === deliveryId)
  if (found?.state === 'sent') {
    return (
      <Notice tone="good" title={strings.testDelivered(name)}>
        {found.answer}
      </Notice>
    )
  }
  if (found?.state === 'failed' || (found && found.attempts > 0)) {
    return (
      <Notice tone="bad" title={strings.testFailed(name)}>
        {found.answer}
      </Notice>
    )
  }
  return <Notice tone="info">{strings.testSending(name)}</Notice>
}
