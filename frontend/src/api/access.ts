/** The signed-in user, API keys, and the version of the server. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post, remove } from './client'
import { listing, reading } from './query'
import type { ApiKeyInput, Factor, FirstAccountInput, Session } from './types'

/** Return the session of this browser; null without a session. */
export const readSession = async (): Promise<Session | null> => (await get('/v1/auth/status')).session

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

export const aboutQuery = reading(['about'], '/v1/about')

export const apiKeysQuery = listing(['api-keys'], '/v1/api-keys')

/** The OpenID provider of the installation; its name is null without one. */
export const providerQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: () => get('/v1/auth/provider'),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Whether people of an e-mail address sign in at the provider of a tenant. */
export const domainQuery = (email: string) => {
  const domain = domainOf(email)
  return queryOptions({
    queryKey: ['provider', domain],
    queryFn: () => get('/v1/auth/provider', { query: { domain } }),
    enabled: domain.includes('.'),
    staleTime: 60_000,
  })
}

const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1).trim()

/** The address that leads to a provider, of the installation or of an e-mail address, and after it to a page. */
export function providerUrl(next: string | undefined, email?: string) {
  const search = new URLSearchParams({ ...(next && { next }), ...(email && { domain: domainOf(email) }) })
  return `/v1/auth/provider/start${search.size > 0 ? `?${search}` : ''}`
}

/** A session, or the second factors of which one is needed. */
export type SignedIn = Session | { factors: Factor[] }

export const signIn = (email: string, password: string): Promise<SignedIn> =>
  post('/v1/auth/sign-in', { body: { email, password } })

/** The status of sign-in; `first_account_due` while the installation has no account. */
export const firstAccountQuery = reading(['first-account'], '/v1/auth/status')

export const createFirstAccount = (body: FirstAccountInput) => post('/v1/auth/first-account', { body })

export const sendSecondFactor = (code: string) => post('/v1/auth/second-factor', { body: { code } })

export const requestPasswordReset = (email: string) => post('/v1/auth/password-resets', { body: { email } })

export const redeemPasswordReset = (token: string, password: string) =>
  post('/v1/auth/password-resets/redeem', { body: { token, password } })

export const signOut = () => post('/v1/auth/sign-out')

export const useCreateApiKey = () =>
  useAction((body: ApiKeyInput, key) => post('/v1/api-keys', { body, key }), [['api-keys']])

export const useDeleteApiKey = () =>
  useAction(
    (apiKeyId: string) => remove('/v1/api-keys/{api_key_id}', { path: { api_key_id: apiKeyId } }),
    [['api-keys']],
  )

/** Give a key a new secret; the old one stays valid for `overlapS` seconds. */
export const useRotateApiKey = () =>
  useAction(
    ({ id, overlapS }: { id: string; overlapS: number }, key) =>
      post('/v1/api-keys/{api_key_id}/rotate', { path: { api_key_id: id }, body: { overlap_s: overlapS }, key }),
    [['api-keys']],
  )
