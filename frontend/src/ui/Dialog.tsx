import { Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { strings } from './strings'

interface Props {
  title: string
  opened: boolean
  onClose: () => void
  children: ReactNode
}

/** A dialog over the page. Its head is no banner: a page has one already. */
export function Dialog({ title, opened, onClose, children }: Props) {
  // What it is about may be forgotten the moment it is closed; its title stays until it has faded.
  const [shown, setShown] = useState(title)
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
