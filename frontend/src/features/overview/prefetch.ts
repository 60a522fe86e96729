import type { QueryClient } from '@tanstack/react-query'
import { applicationRankingQuery, meshHistoryQuery, overviewQuery, zoneDeviationsQuery } from '~/api/overview'
import { worstFirst } from './verdict'

/** Zone pairs of further meshes are compared when someone opens them. */
export const COMPARED = 3

/** Start the queries of the overview while its code loads. A failure shows on the page, which asks again. */
export async function prefetchOverview(queries: QueryClient): Promise<void> {
  void queries.prefetchQuery(applicationRankingQuery)
  await queries.prefetchQuery(overviewQuery)
  const overview = queries.getQueryData(overviewQuery.queryKey)
  for (const [place, { id, paths }] of worstFirst(overview?.meshes ?? [])
    .slice(0, COMPARED)
    .entries()) {
    if (paths.planned === 0) continue
    void queries.prefetchQuery(zoneDeviationsQuery(id))
    if (place === 0) void queries.prefetchQuery(meshHistoryQuery(id))
  }
}
