/** The signed-in user, API keys, and the version of the server. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { Factor, Scope, Session } from './types'

/** Return the session of this browser; null without a session. */
export const readSession = async (): Promise<Session | null> => (await unwrap(client.GET('/v1/auth/status'))).session

/** The session of this browser; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: 5 * 60_000,
})

/** Return true when the signed-in user may edit; viewers do not see actions they cannot use. */
export function useEdits(): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session != null && session.role !== 'viewer'
}

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: () => unwrap(client.GET('/v1/about')),
})

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/api-keys', { params: { query: page(cursor) } }))),
})

/** The OpenID provider of the installation; its name is null without one. */
export const providerQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: () => unwrap(client.GET('/v1/auth/provider')),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The address that leads to the provider, and after it to a page. */
export const providerUrl = (next: string | undefined) =>
  `/v1/auth/provider/start${next ? `?${new URLSearchParams({ next })}` : ''}`

/** Send address and password: the session, or the second factors of which one is needed. */
export const signIn = (email: string, password: string): Promise<Session | { factors: Factor[] }> =>
  unwrap(client.POST('/v1/auth/sign-in', { body: { email, password } }))

export const sendSecondFactor = (code: string) => unwrap(client.POST('/v1/auth/second-factor', { body: { code } }))

export const requestPasswordReset = (email: string) =>
  unwrap(client.POST('/v1/auth/password-resets', { body: { email } }))

export const redeemPasswordReset = (token: string, password: string) =>
  unwrap(client.POST('/v1/auth/password-resets/redeem', { body: { token, password } }))

export const signOut = () => unwrap(client.POST('/v1/auth/sign-out'))

export interface ApiKeyInput {
  name: string
  scopes: Scope[]
  expires_at: string
  service_account: boolean
  mesh_ids: string[] | null
}

export const useCreateApiKey = () =>
  useAction(
    (body: ApiKeyInput, key) => unwrap(client.POST('/v1/api-keys', { body, headers: once(key) })),
    [['api-keys']],
  )

export const useDeleteApiKey = () =>
  useAction(
    (apiKeyId: string) =>
      unwrap(client.DELETE('/v1/api-keys/{api_key_id}', { params: { path: { api_key_id: apiKeyId } } })),
    [['api-keys']],
  )

/** Give a key a new secret; the old one stays valid for `overlapS` seconds. */
export const useRotateApiKey = () =>
  useAction(
    ({ id, overlapS }: { id: string; overlapS: number }, key) =>
      unwrap(
        client.POST('/v1/api-keys/{api_key_id}/rotate', {
          params: { path: { api_key_id: id } },
          body: { overlap_s: overlapS },
          headers: once(key),
        }),
      ),
    [['api-keys']],
  )
