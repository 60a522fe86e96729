import { TextInput } from '@mantine/core'
import { useChangeName } from '~/api/account'
import type { Account } from '~/api/types'
import { Problem } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { longest } from '~/ui/CheckedInput'
import { Panel } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { strings } from './strings'

/** The name under which other members see the person. */
export function NamePanel({ account }: { account: Account }) {
  const change = useChangeName()
  const refusal = change.error instanceof Problem ? change.error.field('name') : undefined

  function submit(form: FormData) {
    change.mutate(String(form.get('name')).trim())
  }

  return (
    <Panel title={strings.name}>
      <ActionForm onSubmit={submit} doing={change} action={strings.saveName}>
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
      </ActionForm>
      {change.isSuccess && <Notice tone="good">{strings.nameIsSaved}</Notice>}
    </Panel>
  )
}
