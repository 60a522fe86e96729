import { Button, Drawer } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import styles from './page.module.css'

interface Props {
  label: string
  /** `default` beside the main action of the page. */
  variant?: 'filled' | 'default'
  /** The form; it calls `close` when what it created needs no further look. */
  children: (close: () => void) => ReactNode
}

/** A button at the head of a list, and the form that it opens at the side. */
export function CreateDrawer({ label, variant = 'filled', children }: Props) {
  const [opened, setOpened] = useState(false)
  const close = () => setOpened(false)
  return (
    <>
      <Button variant={variant} aria-haspopup="dialog" onClick={() => setOpened(true)}>
        {label}
      </Button>
      <Drawer
        opened={opened}
        onClose={close}
        title={label}
        position="right"
        size={520}
        transitionProps={{ duration: 0 }}
      >
        <div className={styles.panelForm}>{children(close)}</div>
      </Drawer>
    </>
  )
}
