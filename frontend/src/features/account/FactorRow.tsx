import type { ReactNode } from 'react'
import { pageStyles } from '~/ui/Page'
import styles from './account.module.css'

/** A kind of second factor: its name, its state and its action. */
export function FactorRow(props: { name: string; state: string | null; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <div>
        <h3>{props.name}</h3>
        {props.state && <p className={pageStyles.lead}>{props.state}</p>}
      </div>
      {props.children}
    </div>
  )
}
