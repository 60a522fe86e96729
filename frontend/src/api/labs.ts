/** The laboratories of the server. Their pages are shown only where the server has them. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { aboutQuery } from './access'

/** The one list of the laboratories' own routes; the routes below them belong to the same laboratory. */
const ROUTES = { simulations: '/simulations', 'tail-lab': '/advisors/tail-lab' }

/** The list changes only when the server is upgraded. */
export const labsQuery = queryOptions({ ...aboutQuery, staleTime: Number.POSITIVE_INFINITY })

/**
 * Return a test of routes such as "/simulations/$simulationId": false for those of a laboratory that the server lacks.
 * Until the server has answered, none is missing.
 */
export function useHasRoute(): (route: string) => boolean {
  const { data } = useQuery(labsQuery)
  return (route) =>
    Object.entries(ROUTES).every(
      ([lab, root]) => (data?.labs.includes(lab) ?? true) || !`${route}/`.startsWith(`${root}/`),
    )
}
