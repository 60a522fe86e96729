import { Button, Group } from '@mantine/core'
import type { Difference } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { pageStyles } from './Page'
import { ActionError, Notice } from './State'
import { strings } from './strings'

interface Props {
  /** What somebody else has changed since the form opened. */
  changes: Difference[]
  /** The reason why the form could not be saved, if any. */
  error: unknown
  onKeep: () => void
  onTake: () => void
}

/** Before the button of a form: why it was not saved, or what somebody else changed meanwhile and the choice what to keep. */
export function ChangedMeanwhile({ changes, error, onKeep, onTake }: Props) {
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
        <Button variant="default" size="compact-sm" onClick={onKeep}>
          {strings.keepMine}
        </Button>
        <Button variant="default" size="compact-sm" onClick={onTake}>
          {strings.takeTheirs}
        </Button>
      </Group>
    </Notice>
  )
}
