import { Button, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useChangeName } from '~/api/account'
import type { Account } from '~/api/types'
import { Problem } from '~/lib/problem'
import { longest } from '~/ui/CheckedInput'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './strings'

/** The name under which other members see the person. */
export function NamePanel({ account }: { account: Account }) {
  const change = useChangeName()
  const refusal = change.error instanceof Problem ? change.error.field('name') : undefined

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    change.mutate(String(new FormData(event.currentTarget).get('name')).trim())
  }

  return (
    <Panel title={strings.name}>
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput
          name="name"
          label={strings.yourName}
          description={strings.nameHint}
          autoComplete="name"
          defaultValue={account.name}
          required
          withAsterisk={false}
          {...longest(100)}
          error={refusal}
          w={240}
        />
        <Button type="submit" size="sm" loading={change.isPending}>
          {strings.saveName}
        </Button>
      </form>
      <ActionError error={change.error} />
      {change.isSuccess && <Notice tone="good">{strings.nameIsSaved}</Notice>}
    </Panel>
  )
}
