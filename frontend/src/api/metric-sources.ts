/** Metric sources, from which curves are learnt in production. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, patch, post, remove } from './client'
import { reading } from './query'
import type { MetricSourceInput } from './types'

/** Metric sources with their findings; the worker evaluates them by itself. */
export const metricSourcesQuery = queryOptions({
  queryKey: ['metric-sources'],
  queryFn: () => everyItem('/v1/metric-sources'),
  refetchInterval: 30_000,
})

/** Minutes of a metric source with both latency and metric. */
export const metricPairsQuery = (sourceId: string) =>
  reading(['metric-sources', sourceId, 'pairs'], '/v1/metric-sources/{metric_source_id}/pairs', {
    path: { metric_source_id: sourceId },
  })

export const useCreateMetricSource = () =>
  useAction((body: MetricSourceInput, key) => post('/v1/metric-sources', { body, key }), [['metric-sources']])

export const useJudgeMetricSource = () =>
  useAction(
    (sourceId: string, key) =>
      post('/v1/metric-sources/{metric_source_id}/findings', { path: { metric_source_id: sourceId }, key }),
    [['metric-sources'], ['curves']],
  )

export const usePauseMetricSource = () =>
  useAction(
    ({ id, paused }: { id: string; paused: boolean }) =>
      patch('/v1/metric-sources/{metric_source_id}', { path: { metric_source_id: id }, body: { paused }, etag: '*' }),
    [['metric-sources']],
  )

export const useDeleteMetricSource = () =>
  useAction(
    (sourceId: string) => remove('/v1/metric-sources/{metric_source_id}', { path: { metric_source_id: sourceId } }),
    [['metric-sources']],
  )
