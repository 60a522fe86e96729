import { Checkbox, TextInput } from '@mantine/core'
import type { Receiver, ReceiverKind } from '~/api/receivers'
import { longest } from '~/ui/CheckedInput'
import { strings } from '../strings'
import { RECEIVER_FIELDS, typedOf } from './receiverForm'

interface Props {
  kind: ReceiverKind
  /** The edited receiver; absent for a new one. */
  receiver?: Receiver
  wrong: (pointer: string) => string | undefined
}

/** The name of a receiver and the fields of its kind. */
export function ReceiverFields({ kind, receiver, wrong }: Props) {
  return (
    <>
      <TextInput
        name="receiver"
        label={strings.name}
        placeholder={strings.receiverNameExample}
        defaultValue={receiver?.name}
        required
        withAsterisk={false}
        {...longest(100)}
        error={wrong('name')}
        w={180}
      />
      {RECEIVER_FIELDS[kind].map((field) => {
        const { name, label, type, part, placeholder, optional } = field
        if (type === 'checkbox')
          return <Checkbox key={name} name={name} label={label} defaultChecked={receiver?.settings[name] === true} />
        const kept = part === 'secret' && receiver?.has_secret
        return (
          <TextInput
            key={`${kind} ${name}`}
            name={name}
            label={label}
            type={type}
            placeholder={kept ? strings.secretKept : placeholder}
            defaultValue={receiver && typedOf(receiver, field)}
            required={!optional && !kept}
            withAsterisk={false}
            autoComplete="off"
            error={wrong(`${part}/${name}`)}
            w={300}
          />
        )
      })}
    </>
  )
}

/** Return what was typed, by the name of the field. */
export function typedIn(form: FormData): { name: string; typed: Record<string, string> } {
  const typed = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]))
  return { name: (typed.receiver ?? '').trim(), typed }
}
