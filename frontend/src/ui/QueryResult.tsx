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

/** The notice that what is shown is older, with the reason. The header shows that the server cannot be reached. */
export function NotUpdated({ error, what }: { error: Error | null; what: string }) {
  if (!error || error instanceof Unreachable) return null
  return (
    <Notice tone="warn" title={strings.notUpdated(what)}>
      {errorText(error)}
    </Notice>
  )
}

/**
 * Show the data of a query, or the reason why there is none; earlier data are faint while newer load, and have a notice
 * once newer could not be loaded.
 */
export function QueryResult<T>({ query, waiting, what, children }: Props<T>) {
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return waiting ? <Waiting waiting={waiting} what={what} /> : <Loading what={what} />
  return (
    <>
      {waiting && <Waiting waiting={waiting} what={what} />}
      <NotUpdated error={query.error} what={what} />
      <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
        {children(query.data)}
      </div>
    </>
  )
}
