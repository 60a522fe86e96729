/** Exports of each minute to monitoring of the tenant: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, patch, post, remove } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type MetricExport = Schemas['MetricExportRead']
export type MetricExportInput = Schemas['MetricExportCreate']

const LIST = ['metric-exports']

/** All exports; requested again, because the worker pushes. */
export const metricExportsQuery = queryOptions({
  queryKey: LIST,
  queryFn: () => everyItem('/v1/metric-exports'),
  refetchInterval: 10_000,
})

const at = (id: string) => ({ path: { metric_export_id: id } })

export const useCreateMetricExport = () =>
  useAction((body: MetricExportInput, key) => post('/v1/metric-exports', { body, key }), [LIST])

export const useChangeMetricExport = () =>
  useAction(
    ({ id, version, changes }: { id: string; version: string; changes: Schemas['MetricExportUpdate'] }) =>
      patch('/v1/metric-exports/{metric_export_id}', { ...at(id), body: changes, version }),
    [LIST],
  )

export const useDeleteMetricExport = () =>
  useAction((id: string) => remove('/v1/metric-exports/{metric_export_id}', at(id)), [LIST])

/** Send one value. */
export const useTestMetricExport = () =>
  useAction(
    async ({ id, name }: Pick<MetricExport, 'id' | 'name'>) => ({
      name,
      ...(await post('/v1/metric-exports/{metric_export_id}/tests', at(id))),
    }),
    [],
  )
