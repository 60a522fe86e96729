/** Exports of measurements to buckets of the tenant: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { components } from './schema.gen'
import type { Job } from './types'

type Schemas = components['schemas']

export type BucketExport = Schemas['BucketExportRead']
export type BucketExportInput = Schemas['BucketExportCreate']
export type BucketExportChanges = Schemas['BucketExportUpdate']
export type ExportTable = Schemas['ExportTable']

const LIST = ['bucket-exports']

/** All exports; requested again, because the worker runs them. */
export const bucketExportsQuery = queryOptions({
  queryKey: LIST,
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/bucket-exports', { params: { query: page(cursor) } }))),
  refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'running') ? 1_000 : 10_000),
})

const at = (id: string) => ({ path: { bucket_export_id: id } })

export const useCreateBucketExport = () =>
  useAction(
    (body: BucketExportInput, key) => unwrap(client.POST('/v1/bucket-exports', { body, headers: once(key) })),
    [LIST],
  )

export const useChangeBucketExport = () =>
  useAction(
    ({ id, version, changes }: { id: string; version: string; changes: BucketExportChanges }) =>
      unwrap(
        client.PATCH('/v1/bucket-exports/{bucket_export_id}', {
          params: at(id),
          body: changes,
          headers: { 'If-Match': `"${version}"` },
        }),
      ),
    [LIST],
  )

export const useDeleteBucketExport = () =>
  useAction((id: string) => unwrap(client.DELETE('/v1/bucket-exports/{bucket_export_id}', { params: at(id) })), [LIST])

/** Write one object to the bucket and delete it. */
export const useTestBucket = () =>
  useAction(
    async ({ id, name }: Pick<BucketExport, 'id' | 'name'>) => ({
      name,
      ...(await unwrap(client.POST('/v1/bucket-exports/{bucket_export_id}/tests', { params: at(id) }))),
    }),
    [],
  )

export const useRunBucketExport = () =>
  useAction(
    (id: string) => unwrap<Job>(client.POST('/v1/bucket-exports/{bucket_export_id}/runs', { params: at(id) })),
    [LIST, ['jobs']],
  )
