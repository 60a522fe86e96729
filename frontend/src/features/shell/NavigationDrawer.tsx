import { Burger, Drawer } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { ClockSwitch } from './ClockSwitch'
import { Navigation } from './Navigation'
import styles from './navigation.module.css'
import { strings } from './strings'

/** The navigation of a narrow window: a button that opens it from the side. It closes when another page opens. */
export function NavigationDrawer() {
  const { pathname } = useLocation()
  const [openedOn, setOpenedOn] = useState<string | null>(null)
  const opened = openedOn === pathname
  const close = () => setOpenedOn(null)
  return (
    <>
      <Burger
        className={styles.burger}
        size="sm"
        opened={opened}
        onClick={() => setOpenedOn(opened ? null : pathname)}
        aria-label={strings.openNavigation}
        aria-expanded={opened}
      />
      <Drawer.Root opened={opened} onClose={close} size={260} transitionProps={{ duration: 0 }}>
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
    </>
  )
}
