import { Checkbox, Group, NativeSelect } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Route } from '~/api/receivers'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { MatcherFields } from './MatcherFields'
import { REPEATS } from './routeTree'

interface Props {
  /** The branch that is written; null while none is. */
  branch: Route | null
  isNew: boolean
  receivers: string[]
  saving: { isPending: boolean; error: unknown }
  onSave: (route: Route) => void
  onClose: () => void
}

const TOLD = [
  { value: '', label: 'as above it' },
  { value: 'yes', label: 'yes' },
  { value: 'no', label: 'no' },
]
const resolvedOf = (value: string) => (value === '' ? null : value === 'yes')

/** One branch of the tree: what it takes, whom it tells, and on which terms. */
export function BranchEditor({ branch, isNew, receivers, saving, onSave, onClose }: Props) {
  const [matchers, setMatchers] = useState((branch?.matchers ?? []).map((one, id) => ({ ...one, id })))
  const repeats = REPEATS.some(({ value }) => value === String(branch?.repeat_s ?? ''))
    ? REPEATS
    : [...REPEATS, { value: String(branch?.repeat_s), label: `every ${branch?.repeat_s} s` }]

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!branch) return
    const form = new FormData(event.currentTarget)
    onSave({
      matchers: matchers.map(({ label, value, negate }) => ({ label, value: value.trim(), negate })),
      receivers: receivers.filter((name) => form.getAll('receivers').includes(name)),
      repeat_s: Number(form.get('repeat')) || null,
      resolved: resolvedOf(String(form.get('resolved'))),
      continue_: form.get('continue') !== null,
      routes: branch.routes ?? [],
    })
  }

  return (
    <Dialog title={isNew ? 'New branch' : 'Change branch'} opened={branch !== null} onClose={onClose}>
      {branch && (
        <form className={pageStyles.panelForm} onSubmit={submit}>
          <MatcherFields matchers={matchers} onChange={setMatchers} wrong={() => undefined} optional />
          <Checkbox.Group label="Tells" defaultValue={branch.receivers ?? []}>
            <Group gap="md" mt="xs">
              {receivers.map((name) => (
                <Checkbox key={name} name="receivers" value={name} label={name} />
              ))}
            </Group>
          </Checkbox.Group>
          <div className={pageStyles.form}>
            <NativeSelect
              name="repeat"
              label="Told again, while nobody acknowledges,"
              defaultValue={String(branch.repeat_s ?? '')}
              data={repeats}
            />
            <NativeSelect
              name="resolved"
              label="Told of the end"
              defaultValue={branch.resolved == null ? '' : branch.resolved ? 'yes' : 'no'}
              data={TOLD}
            />
          </div>
          <Checkbox name="continue" defaultChecked={branch.continue_} label="Branches after this one are asked too" />
          <ActionError error={saving.error} />
          <FormActions onCancel={onClose} saving={saving.isPending} />
        </form>
      )}
    </Dialog>
  )
}
