import type { QueryKey, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useWaiting } from '~/api/waiting'
import { Failed, Loading } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import styles from './explore.module.css'

/** Show the data of a query, or the reason why there is none. `queryKey` names a query that may become a job. */
export function QueryResult<T>({
  query,
  queryKey = [],
  what,
  children,
}: {
  query: UseQueryResult<T>
  queryKey?: QueryKey
  what: string
  children: (data: T) => ReactNode
}) {
  const waiting = useWaiting(queryKey)
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
