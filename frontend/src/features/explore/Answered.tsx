import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failed, Loading } from '~/ui/State'
import styles from './explore.module.css'

/** An answer, or why there is none yet. */
export function Answered<T>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<T>
  what: string
  children: (answer: T) => ReactNode
}) {
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return <Loading what={what} />
  return (
    <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
      {children(query.data)}
    </div>
  )
}
