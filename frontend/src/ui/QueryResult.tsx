import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { Unreachable } from '~/lib/problem'
import { errorText, Failed, Loading, Notice } from './State'
import styles from './state.module.css'
import { strings } from './strings'
import { Waiting } from './Waiting'

interface Props<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch' | 'isPlaceholderData'>
  /** The job that computes the response, if there is one. */
  waiting?: ComponentProps<typeof Waiting>['waiting'] | undefined
  what: string
  children: (data: T) => ReactNode
}

/**
 * Show the data of a query, or the reason why there is none; earlier data are faint while newer load, and have a notice
 * once newer could not be loaded. The header shows that the server cannot be reached.
 */
export function QueryResult<T>({ query, waiting, what, children }: Props<T>) {
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return waiting ? <Waiting waiting={waiting} what={what} /> : <Loading what={what} />
  return (
    <>
      {waiting && <Waiting waiting={waiting} what={what} />}
      {query.error && !(query.error instanceof Unreachable) && (
        <Notice tone="warn" title={strings.notUpdated(what)}>
          {errorText(query.error)}
        </Notice>
      )}
      <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
        {children(query.data)}
      </div>
    </>
  )
}
