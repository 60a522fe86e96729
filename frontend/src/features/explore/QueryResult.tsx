import type { QueryKey, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ExploreParameters } from '~/api/explore'
import { useWaiting } from '~/api/waiting'
import type { Clock } from '~/lib/time'
import { QueryResult as Result } from '~/ui/QueryResult'

/** What each view of a mesh shows: a selection over a time. */
export interface ViewProps {
  meshId: string
  parameters: ExploreParameters
  clock: Clock
}

interface Props<T> {
  query: UseQueryResult<T>
  /** The key of a query that may become a job. */
  queryKey?: QueryKey
  what: string
  children: (data: T) => ReactNode
}

/** Show the data of a query, its progress as a job, or the reason why there is none. */
export function QueryResult<T>({ queryKey = [], ...result }: Props<T>) {
  return <Result {...result} waiting={useWaiting(queryKey)} />
}
