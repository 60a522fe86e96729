import type { QueryKey, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useWaited } from '~/api/waiting'
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
  const waited = useWaited(asked)
  if (query.error && !query.data) {
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return waited ? <Waiting waited={waited} what={what} /> : <Loading what={what} />
  return (
    <>
      {waited && <Waiting waited={waited} what={what} />}
      <div data-waiting={query.isPlaceholderData || undefined} className={styles.answer}>
        {children(query.data)}
      </div>
    </>
  )
}
