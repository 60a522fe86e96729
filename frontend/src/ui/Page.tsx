import type { ReactNode } from 'react'
import styles from './page.module.css'

/** A page of lists and forms: title, a sentence on what it is for, and its main action. */
export function Page(props: { title: string; lead?: ReactNode; action?: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <h1>{props.title}</h1>
          {props.lead && <p className={styles.lead}>{props.lead}</p>}
        </div>
        {props.action}
      </header>
      {props.children}
    </div>
  )
}

export function Panel({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className={styles.panel}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  )
}

/** A table that scrolls sideways inside itself; focusable, so that the keyboard can scroll it too. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard (axe: scrollable-region-focusable)
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>{children}</table>
    </section>
  )
}

export { styles as pageStyles }
