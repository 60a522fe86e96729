import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  opened: boolean
  onClose: () => void
  children: ReactNode
}

/** A dialog over the page. Its head is no banner: a page has one already. */
export function Dialog({ title, opened, onClose, children }: Props) {
  return (
    <Modal.Root opened={opened} onClose={onClose}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Header role="none">
          <Modal.Title>
            <strong>{title}</strong>
          </Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </Modal.Header>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
