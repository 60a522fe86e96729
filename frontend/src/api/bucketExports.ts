/** Exports of measurements to buckets of the tenant: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, patch, post, remove } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type BucketExport = Schemas['BucketExportRead']
export type BucketExportInput = Schemas['BucketExportCreate']
export type BucketExportChanges = Schemas['BucketExportUpdate']
export type ExportTable = Schemas['ExportTable']

const LIST = ['bucket-exports']

/** All exports; requested again, because the worker runs them. */
export const bucketExportsQuery = queryOptions({
  queryKey: LIST,
  queryFn: () => everyItem('/v1/bucket-exports'),
  refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'running') ? 1_000 : 10_000),
})

const at = (id: string) => ({ path: { bucket_export_id: id } })

export const useCreateBucketExport = () =>
  useAction((body: BucketExportInput, key) => post('/v1/bucket-exports', { body, key }), [LIST])

export const useChangeBucketExport = () =>
  useAction(
    ({ id, version, changes }: { id: string; version: string; changes: BucketExportChanges }) =>
      patch('/v1/bucket-exports/{bucket_export_id}', { ...at(id), body: changes, version }),
    [LIST],
  )

export const useDeleteBucketExport = () =>
  useAction((id: string) => remove('/v1/bucket-exports/{bucket_export_id}', at(id)), [LIST])

/** Write one object to the bucket and delete it. */
export const useTestBucket = () =>
  useAction(
    async ({ id, name }: Pick<BucketExport, 'id' | 'name'>) => ({
      name,
      ...(await post('/v1/bucket-exports/{bucket_export_id}/tests', at(id))),
    }),
    [],
  )

export const useRunBucketExport = () =>
  useAction((id: string) => post('/v1/bucket-exports/{bucket_export_id}/runs', at(id)), [LIST, ['jobs']])
