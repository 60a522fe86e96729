import { type FormEvent, useRef } from 'react'
import { type Receiver, useChangeReceiver } from '~/api/receivers'
import { changedFields } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { useEdited } from '~/ui/useEdited'
import { strings } from '../strings'
import { ReceiverFields, typedIn } from './ReceiverFields'
import { bodyOf, RECEIVER_FIELDS, typedOf } from './receiverForm'

/** Change a receiver; routes follow its name. A secret that is not typed again is kept. */
export function EditReceiver({ receiver, onClose }: { receiver: Receiver | null; onClose: () => void }) {
  return (
    <Dialog title={strings.editName(receiver?.name ?? '')} opened={receiver !== null} onClose={onClose}>
      {receiver && <Form key={receiver.id} receiver={receiver} close={onClose} />}
    </Dialog>
  )
}

const typedFields = ({ name, kind, settings }: Receiver) => ({ name, kind, settings })

const lines = (receiver: ReturnType<typeof typedFields>): Record<string, string> => ({
  [strings.name]: receiver.name,
  ...Object.fromEntries(
    RECEIVER_FIELDS[receiver.kind]
      .filter(({ part }) => part === 'settings')
      .map((field) => [field.label, typedOf(receiver, field)]),
  ),
})

function Form({ receiver, close }: { receiver: Receiver; close: () => void }) {
  const change = useChangeReceiver()
  const form = useRef<HTMLFormElement>(null)
  const edited = useEdited(typedFields(receiver), String(receiver.version), lines)
  const wrong = (pointer: string) => (change.error instanceof Problem ? change.error.field(pointer) : undefined)

  function typed() {
    const { name, typed } = typedIn(new FormData(form.current ?? undefined))
    const { settings = {}, secret } = bodyOf(receiver.kind, typed, edited.before.settings)
    return { fields: { name, kind: receiver.kind, settings }, secret }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { fields, secret } = typed()
    const changes = { ...changedFields(edited.before, fields), ...(secret && { secret }) }
    change.mutate({ receiver: { id: receiver.id, version: Number(edited.version) }, changes }, { onSuccess: close })
  }

  return (
    <form className={pageStyles.panelForm} onSubmit={submit} ref={form}>
      <ReceiverFields
        key={edited.formKey}
        kind={receiver.kind}
        receiver={{ ...receiver, ...edited.initial }}
        wrong={wrong}
      />
      <ChangedMeanwhile edited={edited} error={change.error} typed={() => typed().fields} />
      <FormActions onCancel={close} saving={change.isPending} />
    </form>
  )
}
