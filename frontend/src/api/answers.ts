/** Queries of measurements: answered at once, or by a job. */

import { keepPreviousData, type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import type { Granularity, Metric, Statistic } from '~/lib/dimensions'
import { baseOf, rangeOf, type Span, type Versus } from '~/lib/spans'
import { client, unwrap } from './client'
import type { Distribution, Job, Losses, ManySeries, Movers, Spikes, Variability } from './types'
import { setWaiting } from './waiting'

const LOOKS_EVERY_MS = 1_000

interface Call {
  data?: unknown
  error?: unknown
  response: Response
}

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, LOOKS_EVERY_MS)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** The parts of a query's context that a request needs. */
export interface Context {
  signal: AbortSignal
  queryKey: QueryKey
  client: QueryClient
}

/** Return the response, or the output of the job that computes it. Leaving the page does not cancel the job. */
export async function settled<T>(
  call: Promise<Call>,
  { signal, queryKey, client: cache }: Context,
  parseAs: 'json' | 'arrayBuffer' = 'json',
) {
  const { response } = await call
  const body = await unwrap(call)
  if (response.status !== 202) return body as T
  // A request for bytes is answered in bytes, the job included.
  let job = (body instanceof ArrayBuffer ? JSON.parse(new TextDecoder().decode(body)) : body) as Job
  try {
    while (job.state === 'queued' || job.state === 'running') {
      setWaiting(cache, queryKey, job)
      await pause(signal)
      job = await unwrap(client.GET('/v1/jobs/{job_id}', { params: { path: { job_id: job.id } }, signal }))
    }
    if (job.state !== 'succeeded')
      throw new Error(job.error?.detail ?? 'The job that would have answered was cancelled.')
    const output = client.GET('/v1/jobs/{job_id}/output', { params: { path: { job_id: job.id } }, parseAs, signal })
    return (await unwrap(output as Promise<Call>)) as T
  } finally {
    setWaiting(cache, queryKey, null)
  }
}

export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: () => unwrap(client.GET('/v1/jobs', { params: { query: { limit: 100 } } })),
  refetchInterval: 2_000,
})

export interface Asked {
  selections: string[]
  span: Span
  until: string | undefined
  metric: Metric
  statistic: Statistic
  versus: Versus
  by: Granularity
  interval: '1h' | '1d'
}

/** The parameters of each query, as the API takes them. */
export const QUERY = {
  series: (asked: Asked) => ({
    ...rangeOf(asked.span, asked.until),
    selections: asked.selections,
    metric: asked.metric,
    statistics: [asked.statistic],
    points: 600,
  }),
  distribution: (asked: Asked) => ({
    ...rangeOf(asked.span, asked.until),
    selections: asked.selections,
    metric: asked.metric === 'round_trip' ? ('round_trip' as const) : ('one_way_delay' as const),
  }),
  variability: (asked: Asked) => QUERY.distribution(asked),
  losses: (asked: Asked) => ({
    ...rangeOf(asked.span, asked.until),
    selections: asked.selections,
    interval: asked.interval,
  }),
  movers: (asked: Asked) => {
    const range = rangeOf(asked.span, asked.until)
    return {
      ...range,
      ...baseOf(range, asked.versus),
      by: asked.by,
      metric: asked.metric,
      statistic: asked.statistic,
      limit: 50,
    }
  },
  spikes: (asked: Asked) => {
    const range = rangeOf(asked.span, asked.until)
    const [kind, source, target] = (asked.selections[0] ?? 'mesh').split(':')
    if (kind === 'path' && source && target) return { ...range, source_vm_id: source, target_vm_id: target }
    if (kind === 'zones' && source && target) return { ...range, source_zone_id: source, target_zone_id: target }
    return range
  },
}

/** The address of a query as a file. */
export function fileOf(meshId: string, question: keyof typeof QUERY, asked: Asked, format: string): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(QUERY[question](asked))) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one))
  }
  if (question === 'spikes') query.delete('limit')
  query.set('format', format)
  return `/v1/meshes/${meshId}/${question}?${query}`
}

const key = (meshId: string, question: string, asked: unknown) => ['meshes', meshId, 'asked', question, asked]
const path = (meshId: string) => ({ mesh_id: meshId })

export const manySeriesQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'series', asked),
    queryFn: (context) =>
      settled<ManySeries>(
        client.GET('/v1/meshes/{mesh_id}/series', {
          params: { path: path(meshId), query: QUERY.series(asked) },
          signal: context.signal,
        }),
        context,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

export const distributionQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'distribution', asked),
    queryFn: (context) =>
      settled<Distribution>(
        client.GET('/v1/meshes/{mesh_id}/distribution', {
          params: { path: path(meshId), query: QUERY.distribution(asked) },
          signal: context.signal,
        }),
        context,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

export const variabilityQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'variability', asked),
    queryFn: (context) =>
      settled<Variability>(
        client.GET('/v1/meshes/{mesh_id}/variability', {
          params: { path: path(meshId), query: QUERY.variability(asked) },
          signal: context.signal,
        }),
        context,
      ),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })

export const lossesQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'losses', asked),
    queryFn: (context) =>
      settled<Losses>(
        client.GET('/v1/meshes/{mesh_id}/losses', {
          params: { path: path(meshId), query: QUERY.losses(asked) },
          signal: context.signal,
        }),
        context,
      ),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })

export const moversQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'movers', asked),
    queryFn: (context) =>
      settled<Movers>(
        client.GET('/v1/meshes/{mesh_id}/movers', {
          params: { path: path(meshId), query: QUERY.movers(asked) },
          signal: context.signal,
        }),
        context,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

export const spikesQuery = (meshId: string, asked: Asked) =>
  queryOptions({
    queryKey: key(meshId, 'spikes', asked),
    queryFn: () =>
      unwrap<Spikes>(
        // The contract names the files it also comes as; without a format it is a page.
        client.GET('/v1/meshes/{mesh_id}/spikes', {
          params: { path: path(meshId), query: { ...QUERY.spikes(asked), limit: 200 } },
        }) as Promise<{ data?: Spikes; error?: unknown; response: Response }>,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })

export const spikeQuery = (meshId: string, spikeId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'spike', spikeId],
    queryFn: () =>
      unwrap(
        client.GET('/v1/meshes/{mesh_id}/spikes/{spike_id}', {
          params: { path: { mesh_id: meshId, spike_id: spikeId } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })
