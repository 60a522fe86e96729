import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'

/** Return true when the signed-in user may change things; viewers are not shown what they cannot do. */
export function useEdits(): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session !== undefined && session.role !== 'viewer'
}
