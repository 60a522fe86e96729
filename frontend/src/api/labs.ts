/** The laboratories of the server. Their pages are shown only where the server has them. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { aboutQuery } from './access'

type Lab = 'simulations' | 'shaping-lab' | 'tail-lab'

/** The one list of the laboratories' own routes; the routes below them belong to the same laboratory. */
const ROUTES: Partial<Record<Lab, string>> = { simulations: '/simulations', 'tail-lab': '/advisors/tail-lab' }

/** The list changes only when the server is upgraded. */
export const labsQuery = queryOptions({ ...aboutQuery, staleTime: Number.POSITIVE_INFINITY })

/** Return a test of laboratories: false for one that the server lacks. Until the server has answered, none is missing. */
export function useHasLab(): (lab: Lab) => boolean {
  const { data } = useQuery(labsQuery)
  return (lab) => data?.labs.includes(lab) ?? true
}

/** Return a test of routes such as "/simulations/$simulationId": false for those of a laboratory that the server lacks. */
export function useHasRoute(): (route: string) => boolean {
  const hasLab = useHasLab()
  return (route) =>
    Object.entries(ROUTES).every(([lab, root]) => hasLab(lab as Lab) || !`${route}/`.startsWith(`${root}/`))
}
