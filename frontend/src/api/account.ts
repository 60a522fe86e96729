/** The account of the signed-in person: password, browser sessions, second factors, and the rule of the tenant. */

import { sessionQuery } from './access'
import { useAction } from './action'
import { patch, post, put, remove } from './client'
import { listing, reading } from './query'

export const accountQuery = reading(['account'], '/v1/account')

export const browserSessionsQuery = listing(['account', 'sessions'], '/v1/account/sessions')

export const policyQuery = reading(['sign-in-policy'], '/v1/sign-in-policy')

// A changed second factor can open the rest of the product to this session.
const ACCOUNT = [accountQuery.queryKey, sessionQuery.queryKey]

export const useChangePassword = () =>
  useAction(
    (body: { current_password: string; new_password: string }) => put('/v1/account/password', { body }),
    ACCOUNT,
  )

export const useChangeName = () =>
  useAction((name: string) => patch('/v1/account', { body: { name } }), [accountQuery.queryKey, ['members']])

export const useEndSession = () =>
  useAction(
    (id: string) => remove('/v1/account/sessions/{session_id}', { path: { session_id: id } }),
    [browserSessionsQuery.queryKey],
  )

/** End all sessions of the person; `keepThis` keeps the one of this browser. */
export const endSessions = (keepThis: boolean) => remove('/v1/account/sessions', { query: { keep_this: keepThis } })

export const confirmIdentity = (proof: { password?: string; code?: string }) =>
  post('/v1/account/confirmations', { body: proof })

export const createTotp = () => post('/v1/account/totp')

export const useConfirmTotp = () =>
  useAction((code: string) => post('/v1/account/totp/confirm', { body: { code } }), ACCOUNT)

export const useDeleteTotp = () => useAction(() => remove('/v1/account/totp'), ACCOUNT)

export const useCreateRecoveryCodes = () => useAction(() => post('/v1/account/recovery-codes'), ACCOUNT)

export const useSetPolicy = () =>
  useAction(
    (required: boolean) => put('/v1/sign-in-policy', { body: { second_factor_required: required } }),
    [policyQuery.queryKey, accountQuery.queryKey],
  )
