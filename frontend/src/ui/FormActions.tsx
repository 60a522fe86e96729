import { Button, Group } from '@mantine/core'
import { strings } from './strings'

interface Props {
  onCancel: () => void
  saving: boolean
  /** See `useMissing`. */
  onAttempt?: (() => void) | undefined
}

/** The end of a form in a dialog. */
export function FormActions({ onCancel, saving, onAttempt }: Props) {
  return (
    <Group justify="end" mt="md">
      <Button variant="default" onClick={onCancel}>
        {strings.cancel}
      </Button>
      <Button type="submit" loading={saving} onClick={onAttempt}>
        {strings.save}
      </Button>
    </Group>
  )
}
