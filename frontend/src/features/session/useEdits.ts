import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'

/** Return true when the signed-in user may edit; viewers do not see actions they cannot use. */
export function useEdits(): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session !== undefined && session.role !== 'viewer'
}
