import { Button, NativeSelect } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type ReceiverKind, useCreateReceiver } from '~/api/receivers'
import { Problem } from '~/lib/problem'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'
import { ReceiverFields, typedIn } from './ReceiverFields'
import { bodyOf } from './receiverForm'
import { RECEIVER_KINDS } from './receiverWords'

/** Adds a receiver of one of the kinds. */
export function NewReceiver() {
  const create = useCreateReceiver()
  const [kind, setKind] = useState<ReceiverKind>('email')
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const { name, typed } = typedIn(new FormData(element))
    create.mutate({ name, kind, ...bodyOf(kind, typed) }, { onSuccess: () => element.reset() })
  }

  return (
    <Panel id="new-receiver" title={strings.newReceiver}>
      <form className={pageStyles.form} onSubmit={submit}>
        <NativeSelect
          label={strings.kind}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as ReceiverKind)}
          data={Object.entries(RECEIVER_KINDS).map(([value, label]) => ({ value, label }))}
          w={170}
        />
        <ReceiverFields kind={kind} wrong={wrong} />
        <Button type="submit" size="sm" loading={create.isPending}>
          {strings.addReceiver}
        </Button>
      </form>
      <ActionError error={create.error} />
    </Panel>
  )
}
