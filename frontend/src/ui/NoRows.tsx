import type { ReactNode } from 'react'
import styles from './page.module.css'

interface Props {
  children: ReactNode
  /** The next step: a link, or a button. */
  next?: ReactNode
}

/** An empty list: what that means, and the next step. */
export function NoRows({ children, next }: Props) {
  return (
    <p className={styles.lead}>
      {children} {next}
    </p>
  )
}
