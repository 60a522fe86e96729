import type { QueryKey, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useWaiting } from '~/api/waiting'
import { Failed, Loading } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import styles from './explore.module.css'

/** An answer, or why there is none yet. `asked` is the key of the question, where a job may have to answer it. */
export function Answered<T>({
  query,
  asked = [],
  what,
  children,
}: {
  query: UseQueryResult<T>
  asked?: QueryKey
  what: string
  children: (answer: T) => ReactNode
}) {
  const waiting = useWaiting(asked)
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
