/** Metric sources, from which curves are learnt in production. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { MetricSourceInput } from './types'

/** Metric sources with their findings; the worker evaluates them by itself. */
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

export const useCreateMetricSource = () =>
  useAction(
    (body: MetricSourceInput, key) => unwrap(client.POST('/v1/metric-sources', { body, headers: once(key) })),
    [['metric-sources']],
  )

export const useJudgeMetricSource = () =>
  useAction(
    (sourceId: string, key) =>
      unwrap(
        client.POST('/v1/metric-sources/{metric_source_id}/findings', {
          params: { path: { metric_source_id: sourceId } },
          headers: once(key),
        }),
      ),
    [['metric-sources'], ['curves']],
  )

export const usePauseMetricSource = () =>
  useAction(
    ({ id, paused }: { id: string; paused: boolean }) =>
      unwrap(
        client.PATCH('/v1/metric-sources/{metric_source_id}', {
          params: { path: { metric_source_id: id } },
          body: { paused },
          headers: { 'If-Match': '*' },
        }),
      ),
    [['metric-sources']],
  )

export const useDeleteMetricSource = () =>
  useAction(
    (sourceId: string) =>
      unwrap(
        client.DELETE('/v1/metric-sources/{metric_source_id}', { params: { path: { metric_source_id: sourceId } } }),
      ),
    [['metric-sources']],
  )
