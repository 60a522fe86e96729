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

/** Where notifications go, whether they arrive, and what was sent. */
export function ReceiversPage() {
  const receivers = useQuery(receiversQuery)
  const edits = useEdits()
  if (receivers.error && !receivers.data) {
    return <Failed what="The list of receivers" error={receivers.error} retry={() => void receivers.refetch()} />
  }
  return (
    <Page title="Receivers" lead="Where notifications go: that an incident began, goes on, is over.">
      {!receivers.data ? (
        <Loading what="receivers" />
      ) : receivers.data.length === 0 ? (
        <p className={pageStyles.lead}>There is no receiver yet: incidents are made, and nobody is told.</p>
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
        <RowAction label={`Test ${one.name}`} onClick={() => test.mutate(one.id)}>
          Test
        </RowAction>
        {routing && (
          <RowAction
            label={told ? `Stop telling ${one.name}` : `Tell ${one.name}`}
            onClick={() => write.mutate({ root: atRoot(routing.root, one.name, !told), etag: routing.etag })}
          >
            {told ? 'Stop telling' : 'Tell'}
          </RowAction>
        )}
        <RowAction label={`Change ${one.name}`} onClick={() => setChanging(one)}>
          Change
        </RowAction>
        <RowAction label={`Delete ${one.name}`} onClick={() => setDeleting(one)}>
          Delete
        </RowAction>
      </Group>
    )
  }

  return (
    <>
      <ActionError error={write.error ?? test.error} />
      {test.data && <Tested deliveryId={test.data.id} name={test.data.receiver} />}
      <Records
        label="Receivers"
        rows={receivers}
        id={(one) => one.id}
        columns={[
          { title: 'Receiver', cell: (one) => one.name, as: 'head' },
          { title: 'Kind', cell: (one) => RECEIVER_KINDS[one.kind] },
          { title: 'Leads to', cell: destination, as: 'wrap' },
          { title: 'Hears', cell: (one) => (routing ? hears(routing.root, one.name) : NO_VALUE) },
          ...(edits ? [{ title: 'Actions', cell: actions }] : []),
        ]}
      />
      <EditReceiver receiver={changing} onClose={() => setChanging(null)} />
      <Confirm
        title={`Delete ${deleting?.name}`}
        action="Delete"
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        It hears of nothing any more, and what was sent to it leaves the log.
      </Confirm>
    </>
  )
}

/** What came of the newest test, once the log knows. */
function Tested({ deliveryId, name }: { deliveryId: string; name: string }) {
  const found = useQuery(deliveriesQuery).data?.find(({ id }) => id === deliveryId)
  if (found?.state === 'sent') {
    return (
      <Notice tone="good" title={`${name} took the test.`}>
        {found.answer}
      </Notice>
    )
  }
  if (found?.state === 'failed' || (found && found.attempts > 0)) {
    return (
      <Notice tone="bad" title={`The test did not reach ${name}.`}>
        {found.answer}
      </Notice>
    )
  }
  return <Notice tone="info">A test is on its way to {name}…</Notice>
}
