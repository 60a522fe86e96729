import { Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { strings } from './strings'
import { useFocusBack } from './useFocusBack'

interface Props {
  title: string
  opened: boolean
  onClose: () => void
  children: ReactNode
}

/** A dialog over the page. Its head is not a banner, because the page already has one. */
export function Dialog({ title, opened, onClose, children }: Props) {
  // The object may be cleared when the dialog closes; keep its title until the dialog has faded out.
  const [shown, setShown] = useState(title)
  useFocusBack(opened)
  if (opened && shown !== title) setShown(title)
  return (
    <Modal.Root opened={opened} onClose={onClose}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Header role="none">
          <Modal.Title>
            <strong>{shown}</strong>
          </Modal.Title>
          <Modal.CloseButton aria-label={strings.close} />
        </Modal.Header>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
