/** What can be asked, as query options: one key and one function per question. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Change } from '~/lib/changes'
import {
  baseOf,
  type CurveSearch,
  type Granularity,
  type MatrixSearch,
  type Metric,
  rangeOf,
  type Span,
  type Statistic,
  type Versus,
} from '~/lib/search'
import { type Context, settled } from './answers'
import { client, everyItem, unwrap } from './client'
import { parseMatrix } from './matrix'

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => unwrap(client.GET('/v1/auth/session')),
  staleTime: 5 * 60_000,
})

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: () => unwrap(client.GET('/v1/about')),
})

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/api-keys', { params: { query: page(cursor) } }))),
})

export const zonesQuery = queryOptions({
  queryKey: ['zones'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/zones', { params: { query: page(cursor) } }))),
})

export const vmsQuery = queryOptions({
  queryKey: ['vms'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/vms', { params: { query: page(cursor) } }))),
})

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/agents', { params: { query: page(cursor) } }))),
})

export const vmQuery = (vmId: string) =>
  queryOptions({
    queryKey: ['vms', vmId],
    queryFn: () => unwrap(client.GET('/v1/vms/{vm_id}', { params: { path: { vm_id: vmId } } })),
  })

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId],
    queryFn: () => unwrap(client.GET('/v1/agents/{agent_id}', { params: { path: { agent_id: agentId } } })),
  })

/** The newest events of an agent; the rest are in the API. */
export const agentEventsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'events'],
    queryFn: async () => {
      const asked = { params: { path: { agent_id: agentId }, query: { limit: 50 } } }
      return (await unwrap(client.GET('/v1/agents/{agent_id}/events', asked))).items
    },
  })

export const meshesQuery = queryOptions({
  queryKey: ['meshes'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/meshes', { params: { query: page(cursor) } }))),
})

const page = (cursor: string | undefined) => ({ limit: 500, ...(cursor ? { cursor } : {}) })

/** A mesh with the version it was read at, which a change must name. */
export const meshQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'mesh'],
    queryFn: async () => {
      const call = await client.GET('/v1/meshes/{mesh_id}', { params: { path: { mesh_id: meshId } } })
      return { mesh: await unwrap(Promise.resolve(call)), etag: call.response.headers.get('ETag') ?? '*' }
    },
  })

/** The VMs and zones of a mesh in the order of every matrix. */
export const rosterQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'roster'],
    queryFn: () => unwrap(client.GET('/v1/meshes/{mesh_id}/roster', { params: { path: { mesh_id: meshId } } })),
  })

/** When a matrix is of: a range instead of the newest windows, perhaps less an earlier range. */
export interface When {
  span: Span
  until: string | undefined
  versus: Versus | undefined
  percent: boolean
}

export function whenOf({ span, until, versus, percent }: MatrixSearch): When | undefined {
  if (!span && !versus && !until) return undefined
  return { span: span ?? '1h', until, versus, percent: percent ?? false }
}

const OCTETS = { headers: { Accept: 'application/octet-stream' }, parseAs: 'arrayBuffer' as const }

async function readMatrix(
  meshId: string,
  by: Granularity,
  metric: Metric,
  statistic: Statistic,
  when: When | undefined,
  context: Context,
) {
  const { signal } = context
  const path = { mesh_id: meshId }
  const range = when ? rangeOf(when.span, when.until) : undefined
  const query = { by, metric, statistic, ...range }
  const call =
    when?.versus && range
      ? client.GET('/v1/meshes/{mesh_id}/comparison', {
          params: {
            path,
            query: {
              ...query,
              ...baseOf(range, when.versus),
              difference: when.percent ? ('percent' as const) : ('absolute' as const),
            },
          },
          ...OCTETS,
          signal,
        })
      : client.GET('/v1/meshes/{mesh_id}/matrix', { params: { path, query }, ...OCTETS, signal })
  return parseMatrix(await settled<ArrayBuffer>(call, context, 'arrayBuffer'))
}

/** A matrix together with the axes it belongs to: the same revision, or it is read again. */
export const pictureQuery = (meshId: string, by: Granularity, metric: Metric, statistic: Statistic, when?: When) =>
  queryOptions({
    // What is of a range does not change with every new window.
    queryKey: when
      ? ['meshes', meshId, 'asked', 'matrix', by, metric, statistic, when]
      : ['meshes', meshId, 'measured', 'matrix', by, metric, statistic],
    queryFn: async ({ client: cache, ...context }) => {
      let matrix = await readMatrix(meshId, by, metric, statistic, when, context)
      let roster = await cache.ensureQueryData(rosterQuery(meshId))
      if (roster.revision !== matrix.revision) {
        roster = await cache.fetchQuery(rosterQuery(meshId))
        if (roster.revision !== matrix.revision) matrix = await readMatrix(meshId, by, metric, statistic, when, context)
        if (roster.revision !== matrix.revision) throw new Error('The mesh is changing; the next window will fit it.')
      }
      return { matrix, roster, of: { by, metric, statistic, when } }
    },
    placeholderData: keepPreviousData,
    refetchInterval: when && !when.until ? 60_000 : false,
    // Two megabytes for a mesh of 1,000 VMs: do not keep every one that was ever looked at.
    gcTime: 60_000,
  })

export const worstPathsQuery = (meshId: string, metric: Metric, statistic: Statistic, limit: number) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'measured', 'worst-paths', metric, statistic, limit],
    queryFn: () =>
      unwrap(
        client.GET('/v1/meshes/{mesh_id}/worst-paths', {
          params: { path: { mesh_id: meshId }, query: { metric, statistic, limit } },
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const pathQuery = (meshId: string, source: string, target: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'measured', 'path', source, target],
    queryFn: () =>
      unwrap(
        client.GET('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}', {
          params: { path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target } },
        }),
      ),
  })

/** The last `seconds` of a path; the range is relative, so each refetch moves it on. */
export const seriesQuery = (meshId: string, source: string, target: string, seconds: number, statistic: Statistic) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'measured', 'series', source, target, seconds, statistic],
    queryFn: () =>
      unwrap(
        client.GET('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/series', {
          params: {
            path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target },
            query: { from: new Date(Date.now() - seconds * 1_000).toISOString(), statistic },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const curvesQuery = queryOptions({
  queryKey: ['curves'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/curves', { params: { query: page(cursor) } }))),
})

const numbered = (number: number | undefined) => (number ? { number } : {})

/** A curve at one of its versions, with the tag a change must name (none for published ones). */
export const curveQuery = (curveId: string, number?: number) =>
  queryOptions({
    queryKey: ['curves', curveId, 'curve', number],
    queryFn: async () => {
      const call = await client.GET('/v1/curves/{curve_id}', {
        params: { path: { curve_id: curveId }, query: numbered(number) },
      })
      return { curve: await unwrap(Promise.resolve(call)), etag: call.response.headers.get('ETag') ?? '*' }
    },
    placeholderData: keepPreviousData,
  })

export const curveVersionsQuery = (curveId: string) =>
  queryOptions({
    queryKey: ['curves', curveId, 'versions'],
    queryFn: () =>
      everyItem((cursor) =>
        unwrap(
          client.GET('/v1/curves/{curve_id}/versions', {
            params: { path: { curve_id: curveId }, query: page(cursor) },
          }),
        ),
      ),
  })

export const curvePointsQuery = (curveId: string, number: number, stepUs: number) =>
  queryOptions({
    queryKey: ['curves', curveId, 'points', number, stepUs],
    queryFn: () =>
      unwrap(
        client.GET('/v1/curves/{curve_id}/points', {
          params: { path: { curve_id: curveId }, query: { step_us: stepUs, number } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What `added` more costs, and on top of what is measured where the search names a place. */
export const curveCostQuery = (
  curveId: string,
  { added = 0, number, reference, waiting, mesh, by, source, target }: CurveSearch,
) => {
  const pair =
    !mesh || !source || !target
      ? {}
      : by === 'zone'
        ? { mesh_id: mesh, source_zone_id: source, target_zone_id: target }
        : { mesh_id: mesh, source_vm_id: source, target_vm_id: target }
  const counted = {
    ...(reference === undefined ? {} : { reference_us: reference }),
    ...(waiting === undefined ? {} : { waiting }),
  }
  const query = { added_us: added, ...numbered(number), ...counted, ...pair }
  return queryOptions({
    queryKey: ['curves', curveId, 'cost', query],
    queryFn: () => unwrap(client.GET('/v1/curves/{curve_id}/cost', { params: { path: { curve_id: curveId }, query } })),
    placeholderData: keepPreviousData,
    // Measurements move on by themselves.
    refetchInterval: mesh ? 10_000 : false,
  })
}

/** Metric sources, with what they told so far; the worker looks again by itself. */
export const metricSourcesQuery = queryOptions({
  queryKey: ['metric-sources'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/metric-sources', { params: { query: page(cursor) } }))),
  refetchInterval: 30_000,
})

/** Minutes of a metric source with both latency and metric. */
export const metricPairsQuery = (sourceId: string) =>
  queryOptions({
    queryKey: ['metric-sources', sourceId, 'pairs'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/metric-sources/{metric_source_id}/pairs', { params: { path: { metric_source_id: sourceId } } }),
      ),
  })

export const applicationsQuery = queryOptions({
  queryKey: ['applications'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/applications', { params: { query: page(cursor) } }))),
})

export const applicationQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'application'],
    queryFn: () =>
      unwrap(client.GET('/v1/applications/{application_id}', { params: { path: { application_id: applicationId } } })),
  })

/** How an application does under the newest round trips, which move on by themselves. */
export const performanceQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'performance'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/applications/{application_id}/performance', {
          params: { path: { application_id: applicationId } },
        }),
      ),
    refetchInterval: 10_000,
  })

export const recommendationsQuery = queryOptions({
  queryKey: ['recommendations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/recommendations', { params: { query: page(cursor) } }))),
})

/** A recommendation with the tag a decision must name. */
export const recommendationQuery = (recommendationId: string) =>
  queryOptions({
    queryKey: ['recommendations', recommendationId],
    queryFn: async () => {
      const call = await client.GET('/v1/recommendations/{recommendation_id}', {
        params: { path: { recommendation_id: recommendationId } },
      })
      return { found: await unwrap(Promise.resolve(call)), etag: call.response.headers.get('ETag') ?? '*' }
    },
  })

export const accuracyQuery = queryOptions({
  queryKey: ['recommendations', 'accuracy'],
  queryFn: () => unwrap(client.GET('/v1/recommendations/accuracy')),
})

export const scenariosQuery = queryOptions({
  queryKey: ['scenarios'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/scenarios', { params: { query: page(cursor) } }))),
})

export const simulationsQuery = queryOptions({
  queryKey: ['simulations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/simulations', { params: { query: page(cursor) } }))),
})

/** The report of a simulation, which never changes. */
export const simulationQuery = (simulationId: string) =>
  queryOptions({
    queryKey: ['simulations', simulationId],
    queryFn: () =>
      unwrap(client.GET('/v1/simulations/{simulation_id}', { params: { path: { simulation_id: simulationId } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What becomes of applications after changes; keeps what was last known while the next is worked out. */
export const whatIfQuery = (mesh: string, changes: Change[], place: boolean) =>
  queryOptions({
    queryKey: ['what-if', mesh, changes, place],
    queryFn: () =>
      unwrap(
        client.POST('/v1/what-if', {
          body: { mesh, changes, place_waiting: place, statistic: 'p50', minutes: 30 },
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** What could be rented or changed for an application. */
export const optionsQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'options'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/applications/{application_id}/options', {
          params: { path: { application_id: applicationId } },
        }),
      ),
    retry: false,
  })

/** A piece of long work, asked about until it is over. */
export const workQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['jobs', jobId, 'work'],
    queryFn: () => unwrap(client.GET('/v1/jobs/{job_id}', { params: { path: { job_id: jobId } } })),
    refetchInterval: ({ state }) =>
      state.data && ['succeeded', 'failed', 'cancelled'].includes(state.data.state) ? false : 400,
  })
