import { useQuery } from '@tanstack/react-query'
import { openIncidentsQuery } from '~/api/incidents'

/** The list is at most this long. */
const LISTED = 100

/** Return the number of open incidents as text; undefined while there is none. */
export function useOpenIncidents(): string | undefined {
  const { data } = useQuery(openIncidentsQuery)
  if (!data?.length) return undefined
  return data.length < LISTED ? String(data.length) : `${LISTED - 1}+`
}
