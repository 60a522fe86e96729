/** Saved views: pages of the console under a name. */

import { useAction } from './action'
import { post, remove } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

export type SavedView = components['schemas']['SavedViewRead']

export const savedViewsQuery = listing(['saved-views'], '/v1/saved-views')

const STALE = [['saved-views']]

export const useSaveView = () =>
  useAction((body: { name: string; address: string }, key) => post('/v1/saved-views', { body, key }), STALE)

export const useDeleteView = () =>
  useAction((id: string) => remove('/v1/saved-views/{view_id}', { path: { view_id: id } }), STALE)
