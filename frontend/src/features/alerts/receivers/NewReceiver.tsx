import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { aboutQuery } from '~/api/access'
import { type Receiver, type ReceiverKind, routingQuery, useCreateReceiver, useWriteRouting } from '~/api/receivers'
import { labelled } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { Choice } from '~/ui/Choice'
import { pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { strings } from '../strings'
import { ReceiverFields, typedIn } from './ReceiverFields'
import { bodyOf } from './receiverForm'
import { atRoot, RECEIVER_KINDS } from './receiverWords'

/** Adds a receiver of one of the kinds, and makes it a default receiver unless that is not wanted. */
export function NewReceiver({ onDone }: { onDone: () => void }) {
  const create = useCreateReceiver()
  const write = useWriteRouting()
  const routing = useQuery(routingQuery).data
  const mails = useQuery(aboutQuery).data?.mails
  const [kind, setKind] = useState<ReceiverKind>('webhook')
  const [isDefault, setDefault] = useState(true)
  // A heartbeat gets no incidents.
  const isRoutable = kind !== 'heartbeat'
  const kinds = labelled(RECEIVER_KINDS).filter(({ value }) => mails || value !== 'email')
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const { name, typed } = typedIn(new FormData(element))
    create.mutate({ name, kind, ...bodyOf(kind, typed) }, { onSuccess: (created) => onCreated(created, element) })
  }

  function onCreated(created: Receiver, element: HTMLFormElement) {
    element.reset()
    if (!isRoutable) onDone()
    else if (isDefault && routing)
      write.mutate({ root: atRoot(routing.root, created.name, true), etag: routing.etag }, { onSuccess: onDone })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit}>
        <Choice label={strings.kind} value={kind} onChange={setKind} data={kinds} w={170} />
        <ReceiverFields kind={kind} wrong={wrong} />
        {isRoutable && (
          <Checkbox
            label={strings.asDefault}
            checked={isDefault}
            onChange={(event) => setDefault(event.currentTarget.checked)}
          />
        )}
        <Button type="submit" size="sm" loading={create.isPending}>
          {strings.addReceiver}
        </Button>
      </form>
      <ActionError error={create.error ?? write.error} />
      {create.data && isRoutable && !isDefault && (
        <Notice tone="warn">{strings.receivesNothing(create.data.name)}</Notice>
      )}
    </>
  )
}
