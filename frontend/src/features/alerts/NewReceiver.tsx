import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type ReceiverInput, type ReceiverKind, useCreateReceiver } from '~/api/receivers'
import { Problem } from '~/lib/problem'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { RECEIVER_KINDS } from './receiverWords'

type Part = Pick<ReceiverInput, 'settings' | 'secret'>

interface Field {
  name: string
  label: string
  type: 'url' | 'text' | 'password'
  placeholder?: string
  optional?: boolean
}

/** What each kind asks for, and where that goes in the body. Secrets are never shown again. */
const NEEDS: Record<ReceiverKind, { fields: Field[]; part: (typed: Record<string, string>) => Part }> = {
  email: {
    fields: [{ name: 'to', label: 'To', type: 'text', placeholder: 'ops@example.com, lead@example.com' }],
    part: ({ to = '' }) => ({ settings: { to: to.split(/[\s,;]+/).filter(Boolean) } }),
  },
  webhook: {
    fields: [
      { name: 'url', label: 'Address', type: 'url', placeholder: 'https://example.com/hooks/1' },
      { name: 'key', label: 'Key that signs', type: 'password', placeholder: 'none', optional: true },
    ],
    part: ({ url, key }) => ({ settings: { url }, ...(key ? { secret: { key } } : {}) }),
  },
  slack: {
    fields: [{ name: 'url', label: 'Address of the incoming webhook', type: 'url', placeholder: 'https://…' }],
    part: ({ url = '' }) => ({ secret: { url } }),
  },
  pagerduty: {
    fields: [{ name: 'routing_key', label: 'Routing key', type: 'password' }],
    part: ({ routing_key = '' }) => ({ secret: { routing_key } }),
  },
  teams: {
    fields: [{ name: 'url', label: 'Address of the workflow', type: 'url', placeholder: 'https://…' }],
    part: ({ url = '' }) => ({ secret: { url } }),
  },
}

/** Adds a receiver of one of the kinds. */
export function NewReceiver() {
  const create = useCreateReceiver()
  const [kind, setKind] = useState<ReceiverKind>('email')
  const { fields, part } = NEEDS[kind]
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    const typed = Object.fromEntries(fields.map(({ name }) => [name, String(form.get(name)).trim()]))
    create.mutate(
      { name: String(form.get('receiver')).trim(), kind, ...part(typed) },
      { onSuccess: () => element.reset() },
    )
  }

  return (
    <Panel title="New receiver">
      <form className={pageStyles.form} onSubmit={submit}>
        <NativeSelect
          label="Kind"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as ReceiverKind)}
          data={Object.entries(RECEIVER_KINDS).map(([value, label]) => ({ value, label }))}
          w={170}
        />
        <TextInput
          name="receiver"
          label="Name"
          placeholder="on call"
          required
          withAsterisk={false}
          maxLength={100}
          error={wrong('name')}
          w={180}
        />
        {fields.map(({ name, label, type, placeholder, optional }) => (
          <TextInput
            key={`${kind} ${name}`}
            name={name}
            label={label}
            type={type}
            placeholder={placeholder}
            required={!optional}
            withAsterisk={false}
            autoComplete="off"
            error={wrong(`settings/${name}`) ?? wrong(`secret/${name}`)}
            w={300}
          />
        ))}
        <Button type="submit" size="sm" loading={create.isPending}>
          Add
        </Button>
      </form>
      <ActionError error={create.error} />
    </Panel>
  )
}
