import { Button, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { OwnTenant } from '~/api/members'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

interface Props {
  tenant: OwnTenant
  lead: string
  /** Label of the button, a verb. */
  action: string
  doing: { isPending: boolean; error: unknown }
  onConfirm: (name: string) => void
  /** Further fields before the confirmation. */
  children?: ReactNode
}

/** A step that cannot be undone: the name of the tenant has to be typed before the button works. */
export function Confirmation({ tenant, lead, action, doing, onConfirm, children }: Props) {
  const [typed, setTyped] = useState('')

  function submit(event: FormEvent) {
    event.preventDefault()
    onConfirm(typed)
  }

  return (
    <>
      <p className={pageStyles.lead}>{lead}</p>
      <form className={pageStyles.form} onSubmit={submit}>
        {children}
        <TextInput
          label={strings.typeName(tenant.name)}
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget: { value } }) => setTyped(value)}
          w={260}
        />
        <Button type="submit" size="sm" color="red" loading={doing.isPending} disabled={typed !== tenant.name}>
          {action}
        </Button>
      </form>
      <ActionError error={doing.error} />
    </>
  )
}
