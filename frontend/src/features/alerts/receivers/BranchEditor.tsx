import { Checkbox, Group } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Route } from '~/api/receivers'
import type { Difference } from '~/lib/edited'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Choice } from '~/ui/Choice'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { MatcherFields } from '../MatcherFields'
import { strings } from '../strings'
import { HOLDS, REPEATS, withPresent } from './routeTree'

interface Props {
  /** The edited branch; null while there is none. */
  branch: Route | null
  isNew: boolean
  receivers: string[]
  saving: { isPending: boolean; error: unknown }
  /** What somebody else has changed in the tree since the form opened. */
  changes: Difference[]
  /** Note that the person has read these changes. */
  onRead: () => void
  onSave: (route: Route) => void
  onClose: () => void
}

const resolvedOf = (value: string) => (value === '' ? null : value === 'yes')

/** Edit one route: matchers, receivers and options. */
export function BranchEditor({ branch, isNew, receivers, saving, changes, onRead, onSave, onClose }: Props) {
  const [matchers, setMatchers] = useState((branch?.matchers ?? []).map((matcher, id) => ({ ...matcher, id })))

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!branch) return
    const form = new FormData(event.currentTarget)
    onSave({
      matchers: matchers.map(({ label, value, negate }) => ({ label, value: value.trim(), negate })),
      receivers: receivers.filter((name) => form.getAll('receivers').includes(name)),
      repeat_s: Number(form.get('repeat')) || null,
      resolved: resolvedOf(String(form.get('resolved'))),
      hold_s: form.get('hold') === '' ? null : Number(form.get('hold')),
      continue_: form.get('continue') !== null,
      routes: branch.routes ?? [],
    })
  }

  return (
    <Dialog title={isNew ? strings.newRoute : strings.editRoute} opened={branch !== null} onClose={onClose}>
      {branch && (
        <form className={pageStyles.panelForm} onSubmit={submit}>
          <MatcherFields matchers={matchers} onChange={setMatchers} wrong={() => undefined} optional />
          <Checkbox.Group label={strings.receivers} defaultValue={branch.receivers ?? []}>
            <Group gap="md" mt="xs">
              {receivers.map((name) => (
                <Checkbox key={name} name="receivers" value={name} label={name} />
              ))}
            </Group>
          </Checkbox.Group>
          <div className={pageStyles.form}>
            <Choice
              name="repeat"
              label={strings.repeatUntilAcknowledged}
              defaultValue={String(branch.repeat_s ?? '')}
              data={withPresent(REPEATS, branch.repeat_s, strings.everySeconds)}
            />
            <Choice
              name="resolved"
              label={strings.notifyWhenResolved}
              defaultValue={branch.resolved == null ? '' : branch.resolved ? 'yes' : 'no'}
              none={strings.inherited}
              data={{ yes: strings.yes, no: strings.no }}
            />
          </div>
          <Choice
            name="hold"
            label={strings.groupBelowCritical}
            description={strings.groupHelp}
            defaultValue={String(branch.hold_s ?? '')}
            data={withPresent(HOLDS, branch.hold_s, strings.atMostSeconds)}
          />
          <Checkbox name="continue" defaultChecked={branch.continue_} label={strings.continueToNext} />
          <ChangedMeanwhile
            edited={{ changes, keep: onRead, take: onClose }}
            error={saving.error}
            typed={() => undefined}
          />
          <FormActions onCancel={onClose} saving={saving.isPending} />
        </form>
      )}
    </Dialog>
  )
}
