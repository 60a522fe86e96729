import { Burger } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { lazyDialog } from '~/ui/lazyDialog'
import styles from './navigation.module.css'
import { strings } from './strings'

const NavigationPanel = lazyDialog(async () => (await import('./NavigationPanel')).NavigationPanel)

/** The navigation of a narrow window: a button that opens it from the side. It closes when another page opens. */
export function NavigationDrawer() {
  const { pathname } = useLocation()
  const [openedOn, setOpenedOn] = useState<string | null>(null)
  const opened = openedOn === pathname
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
      <NavigationPanel opened={opened} onClose={() => setOpenedOn(null)} />
    </>
  )
}
