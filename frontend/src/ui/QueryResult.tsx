import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { Failed, Loading } from './State'
import styles from './state.module.css'
import { Waiting } from './Waiting'

interface Props<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch' | 'isPlaceholderData'>
  /** The job that computes the response, if there is one. */
  waiting?: ComponentProps<typeof Waiting>['waiting'] | undefined
  what: string
  children: (data: T) => ReactNode
}

/** Show the data of a query, or the reason why there is none; earlier data are faint while newer load. */
export function QueryResult<T>({ query, waiting, what, children }: Props<T>) {
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return waiting ? <Waiting waiting={waiting} what={what} /> : <Loading what={what} />
  return (
    <>
      {waiting && <Waiting waiting={waiting} what={what} />}
      <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
        {children(query.data)}
      </div>
    </>
  )
}
