/** The identity provider of the tenant, and the domains of its people: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { Problem } from '~/lib/problem'
import { policyQuery } from './account'
import { useAction } from './action'
import { get, post, put, remove } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type IdentityProvider = Schemas['IdentityProviderRead']
export type IdentityProviderInput = Schemas['IdentityProviderWrite']
export type SignInDomain = Schemas['SignInDomainRead']

const PROVIDER = ['identity-provider']
const DOMAINS = ['identity-provider', 'domains']

/** The provider; null without one. */
export const identityProviderQuery = queryOptions({
  queryKey: PROVIDER,
  queryFn: () =>
    get('/v1/identity-provider').catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'identity_provider_unknown') return null
      throw error
    }),
})

export const signInDomainsQuery = listing(DOMAINS, '/v1/identity-provider/domains')

export const useSetIdentityProvider = () =>
  useAction(
    ({ version, ...body }: IdentityProviderInput & { version: string }) =>
      put('/v1/identity-provider', { body, version }),
    [PROVIDER],
  )

export const useDeleteIdentityProvider = () => useAction(() => remove('/v1/identity-provider'), [PROVIDER])

export const useTestIdentityProvider = () => useAction(() => post('/v1/identity-provider/tests'), [])

export const useAddDomain = () =>
  useAction((domain: string) => post('/v1/identity-provider/domains', { body: { domain } }), [DOMAINS])

export const useVerifyDomain = () =>
  useAction(
    (id: string) => post('/v1/identity-provider/domains/{domain_id}/verify', { path: { domain_id: id } }),
    [DOMAINS],
  )

export const useRemoveDomain = () =>
  useAction((id: string) => remove('/v1/identity-provider/domains/{domain_id}', { path: { domain_id: id } }), [DOMAINS])

export const useRequireSingleSignOn = () =>
  useAction(
    (required: boolean) => put('/v1/sign-in-policy', { body: { single_sign_on_required: required } }),
    [policyQuery.queryKey],
  )
