import { Button, Group } from '@mantine/core'
import { strings } from './strings'

interface Props {
  onCancel: () => void
  saving: boolean
}

/** The end of a form in a dialog. */
export function FormActions({ onCancel, saving }: Props) {
  return (
    <Group justify="end" mt="md">
      <Button variant="default" onClick={onCancel}>
        {strings.cancel}
      </Button>
      <Button type="submit" loading={saving}>
        {strings.save}
      </Button>
    </Group>
  )
}
