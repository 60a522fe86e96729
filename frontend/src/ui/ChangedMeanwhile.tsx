import { Button, Group } from '@mantine/core'
import { Problem } from '~/lib/problem'
import { pageStyles } from './Page'
import { ActionError, Notice } from './State'
import { strings } from './strings'
import type { Edited } from './useEdited'

interface Props<T> {
  edited: Pick<Edited<T>, 'changes' | 'keep' | 'take'>
  /** The reason why the form could not be saved, if any. */
  error: unknown
  /** The fields as they are typed now. */
  typed: () => T
  /** A form that keeps its fields itself takes those that it shows next. */
  onFilled?: (fields: T) => void
}

/** Before the button of a form: why it was not saved, or what somebody else changed meanwhile and the choice what to keep. */
export function ChangedMeanwhile<T>({ edited, error, typed, onFilled = () => undefined }: Props<T>) {
  const { changes } = edited
  const isOutdated = error instanceof Problem && error.status === 412
  if (changes.length === 0) return isOutdated ? null : <ActionError error={error} />
  return (
    <Notice tone="warn" title={strings.changedMeanwhile}>
      <ul className={pageStyles.bullets}>
        {changes.map(({ label, before, now }) => (
          <li key={label}>{strings.changedFromTo(label, before || strings.empty, now || strings.empty)}</li>
        ))}
      </ul>
      {strings.changedMeanwhileLead}
      <Group gap="xs" mt="xs">
        <Button variant="default" size="compact-sm" onClick={() => onFilled(edited.keep(typed()))}>
          {strings.keepMine}
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => onFilled(edited.take())}>
          {strings.takeTheirs}
        </Button>
      </Group>
    </Notice>
  )
}
