/** The overview: health of meshes, applications worst first, change of each zone pair from usual. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client, get } from './client'
import { serverNow } from './connection'
import { responseOrOutput } from './jobs'
import { reading } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']
export type Overview = Schemas['OverviewRead']
export type MeshHealth = Schemas['MeshHealth']
export type OpenIncident = Schemas['OpenIncident']
export type Attention = Schemas['Attention']
export type ApplicationRanking = Schemas['ApplicationRanking']
export type Finding = Schemas['AdvisorFinding']
export type Deviations = Schemas['MatrixRead']

const REFRESH_MS = 10_000
const MINUTE_MS = 60_000
/** The time after which a minute is merged: late windows are waited for, and the sweep runs every 20 s. */
const MERGED_MS = 45_000

export const overviewQuery = queryOptions({
  queryKey: ['overview', 'health'],
  queryFn: () => get('/v1/overview'),
  refetchInterval: REFRESH_MS,
})

export const meshHealthQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['overview', 'health', meshId],
    queryFn: () => get('/v1/overview/meshes/{mesh_id}', { path: { mesh_id: meshId } }),
    refetchInterval: REFRESH_MS,
  })

export const applicationRankingQuery = queryOptions({
  queryKey: ['overview', 'applications'],
  queryFn: () => get('/v1/overview/applications'),
  refetchInterval: REFRESH_MS,
})

/** All applications with their last 24 hours, as many as the API compares. */
export const allRankedQuery = queryOptions({
  queryKey: ['overview', 'applications', 'all'],
  queryFn: () => get('/v1/overview/applications', { query: { limit: 200 } }),
  refetchInterval: REFRESH_MS,
})

/** The performance of an application over some days, with its incidents and moves. */
export const applicationHistoryQuery = (applicationId: string, days: number) =>
  queryOptions({
    queryKey: ['overview', 'applications', applicationId, days],
    queryFn: () =>
      get('/v1/overview/applications/{application_id}/history', {
        path: { application_id: applicationId },
        query: { days },
      }),
    refetchInterval: 5 * MINUTE_MS,
    placeholderData: keepPreviousData,
  })

export const findingsQuery = queryOptions({
  queryKey: ['overview', 'findings'],
  queryFn: () => get('/v1/overview/findings'),
  refetchInterval: MINUTE_MS,
  staleTime: MINUTE_MS / 2,
})

export const incidentFindingsQuery = (incidentId: string) =>
  reading(['overview', 'findings', incidentId], '/v1/overview/incidents/{incident_id}/findings', {
    path: { incident_id: incidentId },
  })

/** The worst change of each hour of the last 30 days, and the incidents of that time. */
export const meshHistoryQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['overview', 'history', meshId],
    queryFn: () => get('/v1/overview/meshes/{mesh_id}/history', { path: { mesh_id: meshId } }),
    refetchInterval: 5 * MINUTE_MS,
    staleTime: MINUTE_MS,
  })

/** Change of each zone pair's one-way p50 in the last 5 minutes from its usual value. */
export const zoneDeviationsQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'range', 'zone-deviations'],
    queryFn: (context) => {
      const end = Math.floor((serverNow() - MERGED_MS) / MINUTE_MS)
      const minute = (ago: number) => new Date((end - ago) * MINUTE_MS).toISOString()
      return responseOrOutput<Deviations>(
        client.GET('/v1/meshes/{mesh_id}/matrix', {
          params: {
            path: { mesh_id: meshId },
            query: { by: 'zone', metric: 'deviation', from: minute(5), to: minute(0) },
          },
          signal: context.signal,
        }),
        context,
      )
    },
    refetchInterval: MINUTE_MS,
    staleTime: MINUTE_MS / 2,
  })
