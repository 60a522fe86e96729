import { ActionIcon, Tooltip } from '@mantine/core'
import { FitIcon } from '~/ui/icons'
import { useSetKiosk } from '~/ui/kiosk'
import { strings } from '../strings'
import { useKioskPage } from '../useKioskPage'

/** Enters the kiosk mode, on pages made for wall screens. */
export function KioskButton() {
  const isForWalls = useKioskPage()
  const setKiosk = useSetKiosk()
  if (!isForWalls) return null
  return (
    <Tooltip label={strings.kioskHint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--ink-2)"
        size={28}
        aria-label={strings.kiosk}
        aria-keyshortcuts="k"
        onClick={() => setKiosk(true)}
      >
        <FitIcon />
      </ActionIcon>
    </Tooltip>
  )
}
