import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { ActionError } from './State'

interface Props {
  title: string
  children: ReactNode
  /** What the button does, as a verb: "Revoke". */
  action: string
  opened: boolean
  pending: boolean
  error: unknown
  onConfirm: () => void
  onClose: () => void
}

/** Asks before something that cannot be undone; says what will happen, not "are you sure". */
export function Confirm({ title, children, action, opened, pending, error, onConfirm, onClose }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={<strong>{title}</strong>}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <p>{children}</p>
      <ActionError error={error} />
      <Group justify="end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" onClick={onConfirm} loading={pending}>
          {action}
        </Button>
      </Group>
    </Modal>
  )
}
