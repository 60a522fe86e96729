import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'

/** Whether who is signed in may change things: viewers may not, and are not shown what they cannot do. */
export function useEdits(): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session !== undefined && session.role !== 'viewer'
}
