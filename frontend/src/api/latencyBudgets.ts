/** Latency budgets: the shares of measured delays. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { rangeOf, type Span, type TimeSearch } from '~/lib/spans'
import { client } from './client'
import { responseOrOutput } from './jobs'
import type { LatencyBudgets } from './types'

export interface BudgetParameters {
  selections: string[]
  time: TimeSearch
  /** The length of a range that names none. */
  span: Span
  roundTrip?: boolean | undefined
  distanceKm?: number | undefined
}

/** The latency budgets of selections in a range; at once, or from a job. */
export const latencyBudgetsQuery = (meshId: string, parameters: BudgetParameters) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'range', 'latency-budgets', parameters],
    queryFn: (context) => {
      const { selections, time, span, roundTrip, distanceKm } = parameters
      return responseOrOutput<LatencyBudgets>(
        client.GET('/v1/meshes/{mesh_id}/latency-budgets', {
          params: {
            path: { mesh_id: meshId },
            query: {
              ...rangeOf(time, span),
              selections,
              metric: roundTrip ? 'round_trip' : 'one_way_delay',
              ...(distanceKm === undefined ? {} : { distance_km: distanceKm }),
            },
          },
          signal: context.signal,
        }),
        context,
      )
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
