import type { UseQueryResult } from '@tanstack/react-query'
import { LoadingPage } from './Page'
import { Failed, Loading } from './State'

interface Props {
  query: Pick<UseQueryResult, 'error' | 'refetch'>
  what: string
  /** What could not be loaded, if the sentence about it names it otherwise. */
  failed?: string
  /** The title of the page, if it is a whole one. */
  title?: string
}

/** The state of a query without data: it loads, or it failed for a reason. */
export function Unloaded({ query, what, failed = what, title }: Props) {
  if (query.error) return <Failed what={failed} error={query.error} retry={() => void query.refetch()} />
  return title === undefined ? <Loading what={what} /> : <LoadingPage title={title} what={what} />
}
