import type { FormEvent } from 'react'
import { type Receiver, useChangeReceiver } from '~/api/receivers'
import { Problem } from '~/lib/problem'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'
import { ReceiverFields, typedIn } from './ReceiverFields'
import { bodyOf } from './receiverForm'

/** Change a receiver; routes follow its name. A secret that is not typed again is kept. */
export function EditReceiver({ receiver, onClose }: { receiver: Receiver | null; onClose: () => void }) {
  const change = useChangeReceiver()
  const wrong = (pointer: string) => (change.error instanceof Problem ? change.error.field(pointer) : undefined)

  function close() {
    change.reset()
    onClose()
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!receiver) return
    const { name, typed } = typedIn(new FormData(event.currentTarget))
    const changes = { name, ...bodyOf(receiver.kind, typed, receiver.settings) }
    change.mutate({ receiver, changes }, { onSuccess: close })
  }

  return (
    <Dialog title={strings.editReceiver(receiver?.name ?? '')} opened={receiver !== null} onClose={close}>
      {receiver && (
        <form className={pageStyles.panelForm} onSubmit={submit}>
          <ReceiverFields kind={receiver.kind} receiver={receiver} wrong={wrong} />
          <ActionError error={change.error} />
          <FormActions onCancel={close} saving={change.isPending} />
        </form>
      )}
    </Dialog>
  )
}
