import { Anchor } from '@mantine/core'
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

/** A link to a form further down the page, whose first field takes the focus. `form`: id of its panel. */
export function ToForm({ form, children }: { form: string; children: ReactNode }) {
  return (
    <Anchor
      inherit
      underline="always"
      href={`#${form}`}
      onClick={(event) => {
        const field = document.querySelector<HTMLElement>(`#${form} :is(input, select, textarea)`)
        if (!field) return
        event.preventDefault()
        field.focus()
      }}
    >
      {children}
    </Anchor>
  )
}
