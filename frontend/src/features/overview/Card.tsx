import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { errorText, Loading } from '~/ui/State'
import styles from './overview.module.css'
import { strings } from './strings'

interface Props {
  title: string
  children: ReactNode
  /** A link to the page with everything. */
  more?: ReactNode
}

/** A titled part of the overview. */
export function Card({ title, more, children }: Props) {
  const heading = useId()
  return (
    <section className={styles.card} aria-labelledby={heading}>
      <header className={styles.cardHead}>
        <h2 id={heading}>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  )
}

interface LoadedProps<T> {
  what: string
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  children: (data: T) => ReactNode
}

/** Show the data of a query, or why there is none: a failure of one part leaves the others as they are. */
export function Loaded<T>({ what, query: { data, error, refetch }, children }: LoadedProps<T>) {
  if (data !== undefined) return <>{children(data)}</>
  if (!error) return <Loading what={what} />
  return (
    <div className={styles.failed} role="alert">
      <p>
        {strings.loadFailed(what)} {errorText(error)}
      </p>
      <Button variant="default" size="compact-sm" onClick={() => void refetch()}>
        {strings.tryAgain}
      </Button>
    </div>
  )
}
