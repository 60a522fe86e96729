/** Saved views: pages of the console under a name. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { components } from './schema.gen'

export type SavedView = components['schemas']['SavedViewRead']

export const savedViewsQuery = queryOptions({
  queryKey: ['saved-views'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/saved-views', { params: { query: page(cursor) } }))),
})

const STALE = [['saved-views']]

export const useSaveView = () =>
  useAction(
    (body: { name: string; address: string }, key) =>
      unwrap(client.POST('/v1/saved-views', { body, headers: once(key) })),
    STALE,
  )

export const useDeleteView = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/saved-views/{view_id}', { params: { path: { view_id: id } } })),
    STALE,
  )
