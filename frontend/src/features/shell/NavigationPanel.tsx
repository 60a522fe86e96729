import { Drawer } from '@mantine/core'
import { ClockSwitch } from './ClockSwitch'
import { Navigation } from './Navigation'
import styles from './navigation.module.css'
import { strings } from './strings'

/** The navigation at the side of a narrow window, over the page. */
export function NavigationPanel({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Drawer.Root opened={opened} onClose={onClose} size={260} transitionProps={{ duration: 0 }}>
      <Drawer.Overlay />
      <Drawer.Content className={styles.drawer}>
        <Drawer.Header role="none">
          <Drawer.Title>
            <strong>{strings.sinemora}</strong>
          </Drawer.Title>
          <Drawer.CloseButton aria-label={strings.closeNavigation} />
        </Drawer.Header>
        <Drawer.Body>
          <Navigation />
          <ClockSwitch />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}
