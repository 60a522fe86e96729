import { Modal } from '@mantine/core'
import { strings } from '../strings'
import { PaletteSearch } from './PaletteSearch'

interface Props {
  opened: boolean
  onClose: () => void
  onShortcuts: () => void
}

/** The command palette: everything there is to open or to do, by its name. */
export function Palette({ opened, onClose, onShortcuts }: Props) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={640} yOffset="10dvh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={strings.search}>
        <Modal.Body p={0}>
          <PaletteSearch onClose={onClose} onShortcuts={onShortcuts} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
