/** The account of the signed-in person: password, browser sessions, second factors, and the rule of the tenant. */

import { queryOptions } from '@tanstack/react-query'
import { sessionQuery } from './access'
import { useAction } from './action'
import { client, everyItem, page, unwrap } from './client'

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => unwrap(client.GET('/v1/account')),
})

export const browserSessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/account/sessions', { params: { query: page(cursor) } }))),
})

export const policyQuery = queryOptions({
  queryKey: ['sign-in-policy'],
  queryFn: () => unwrap(client.GET('/v1/sign-in-policy')),
})

// A changed second factor can open the rest of the product to this session.
const ACCOUNT = [accountQuery.queryKey, sessionQuery.queryKey]

export const useChangePassword = () =>
  useAction(
    (body: { current_password: string; new_password: string }) => unwrap(client.PUT('/v1/account/password', { body })),
    ACCOUNT,
  )

export const useChangeName = () =>
  useAction(
    (name: string) => unwrap(client.PATCH('/v1/account', { body: { name } })),
    [accountQuery.queryKey, ['members']],
  )

export const useEndSession = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/account/sessions/{session_id}', { params: { path: { session_id: id } } })),
    [browserSessionsQuery.queryKey],
  )

/** End all sessions of the person; `keepThis` keeps the one of this browser. */
export const endSessions = (keepThis: boolean) =>
  unwrap(client.DELETE('/v1/account/sessions', { params: { query: { keep_this: keepThis } } }))

export const confirmIdentity = (proof: { password?: string; code?: string }) =>
  unwrap(client.POST('/v1/account/confirmations', { body: proof }))

export const createTotp = () => unwrap(client.POST('/v1/account/totp'))

export const useConfirmTotp = () =>
  useAction((code: string) => unwrap(client.POST('/v1/account/totp/confirm', { body: { code } })), ACCOUNT)

export const useDeleteTotp = () => useAction(() => unwrap(client.DELETE('/v1/account/totp')), ACCOUNT)

export const useCreateRecoveryCodes = () => useAction(() => unwrap(client.POST('/v1/account/recovery-codes')), ACCOUNT)

export const useSetPolicy = () =>
  useAction(
    (required: boolean) => unwrap(client.PUT('/v1/sign-in-policy', { body: { second_factor_required: required } })),
    [policyQuery.queryKey, accountQuery.queryKey],
  )
