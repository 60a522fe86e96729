import type { ReactNode } from 'react'
import styles from './centred.module.css'

/** A page outside the shell: one form in its middle. */
export function CentredPage({ children }: { children: ReactNode }) {
  return <main className={styles.page}>{children}</main>
}

export { styles as centredStyles }
