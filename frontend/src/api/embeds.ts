/** Embed links: one view of a mesh for readers without an account. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post, remove } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']
export type Embed = Schemas['EmbedShown']
export type EmbedLink = Schemas['EmbedLinkRead']
export type EmbedInput = Schemas['EmbedLinkCreate']

const REFRESH_MS = 15_000

/** The view that the token of this page shows; asked again, since a link may end, and alerts be late, meanwhile. */
export const embedQuery = queryOptions({
  queryKey: ['embed'],
  queryFn: () => get('/v1/embed'),
  refetchInterval: REFRESH_MS,
  refetchIntervalInBackground: true,
})

export const embedLinksQuery = listing(['embed-links'], '/v1/embed-links')

const STALE = [['embed-links']]

export const useCreateEmbedLink = () =>
  useAction((body: EmbedInput, key) => post('/v1/embed-links', { body, key }), STALE)

export const useRevokeEmbedLink = () =>
  useAction((id: string) => remove('/v1/embed-links/{link_id}', { path: { link_id: id } }), STALE)
