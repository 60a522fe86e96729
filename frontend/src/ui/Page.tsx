import type { ReactNode } from 'react'
import styles from './page.module.css'
import { useNamedPage } from './pageName'
import { Loading } from './State'
import { Term } from './Term'

/** A page of lists and forms: title, a sentence on what it is for, and its main action. */
export function Page(props: { title: string; lead?: ReactNode; action?: ReactNode; children: ReactNode }) {
  useNamedPage(props.title)
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

/** A page whose contents load: its heading is there from the start. */
export function LoadingPage({ title, what }: { title: string; what: string }) {
  return (
    <Page title={title}>
      <Loading what={what} />
    </Page>
  )
}

interface PanelProps {
  id?: string
  title?: string
  /** Glossary term whose meaning the title shows. */
  term?: string
  children: ReactNode
}

export function Panel({ id, title, term, children }: PanelProps) {
  return (
    <section id={id} className={styles.panel}>
      {title && <h2>{term ? <Term of={term}>{title}</Term> : title}</h2>}
      {children}
    </section>
  )
}

export { styles as pageStyles }
