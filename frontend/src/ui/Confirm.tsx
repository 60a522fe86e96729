import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { Dialog } from './Dialog'
import { ActionError } from './State'
import { strings } from './strings'

interface Props {
  title: string
  children: ReactNode
  /** Label of the button, a verb: "Revoke". */
  action: string
  /** Id of the object of the action; null while the dialog is closed. */
  about: string | null
  /** The mutation that does it. */
  doing: {
    mutate: (id: string, options: { onSuccess: () => void }) => void
    isPending: boolean
    error: unknown
    reset: () => void
  }
  onClose: () => void
  /** Instead of closing, once it is done. */
  onDone?: () => void
}

/** Confirm an action that cannot be undone; the text names the effect, not "are you sure". */
export function Confirm({ title, children, action, about, doing, onClose, onDone = onClose }: Props) {
  function close() {
    doing.reset()
    onClose()
  }
  return (
    <Dialog title={title} opened={about !== null} onClose={close}>
      <p>{children}</p>
      <ActionError error={doing.error} />
      <Group justify="end" mt="md">
        <Button variant="default" onClick={close} data-autofocus>
          {strings.cancel}
        </Button>
        <Button
          color="red"
          onClick={() => about !== null && doing.mutate(about, { onSuccess: onDone })}
          loading={doing.isPending}
        >
          {action}
        </Button>
      </Group>
    </Dialog>
  )
}
