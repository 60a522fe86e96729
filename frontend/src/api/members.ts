/** Members, invitations, and the tenants of the signed-in person. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { sessionQuery } from './access'
import { useAction } from './action'
import { get, post, put, remove } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Role = Schemas['Role']
export type Member = Schemas['MemberRead']
export type Invitation = Schemas['InvitationRead']
export type InvitationInput = Schemas['InvitationCreate']
export type InvitationPreview = Schemas['InvitationPreview']
export type OwnTenant = Schemas['OwnTenantRead']

/** All roles; each may do what those before it may. */
export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner']

/** Return the roles that a member with the role `own` may give to others. */
export function grantable(own: Role | undefined): Role[] {
  return own === 'owner' ? [...ROLES] : own === 'admin' ? ROLES.filter((role) => role !== 'owner') : []
}

/** Return whether members with a role may be limited to some meshes; who manages members sees all. */
export const isLimitable = (role: Role) => role === 'viewer' || role === 'editor'

/** Return the role of the signed-in person; undefined while it loads. */
export function useRole(): Role | undefined {
  return useQuery(sessionQuery).data?.role
}

export const membersQuery = listing(['members'], '/v1/members')

export const invitationsQuery = listing(['invitations'], '/v1/invitations')

export const ownTenantsQuery = queryOptions({
  queryKey: ['own-tenants'],
  queryFn: () => get('/v1/tenants'),
  staleTime: 60_000,
})

export const useSetRole = () =>
  useAction(
    ({ id, version, role }: Member) =>
      put('/v1/members/{user_id}/role', { path: { user_id: id }, body: { role }, version }),
    [['members'], ['session']],
  )

export const useSetMeshes = () =>
  useAction(
    ({ id, version, meshIds }: { id: string; version: string; meshIds: string[] | null }) =>
      put('/v1/members/{user_id}/meshes', { path: { user_id: id }, body: { mesh_ids: meshIds }, version }),
    [['members']],
  )

export const useRemoveMember = () =>
  useAction((id: string) => remove('/v1/members/{user_id}', { path: { user_id: id } }), [['members']])

export const useLeaveTenant = () =>
  useAction((tenantName: string) => post('/v1/members/self/leave', { body: { tenant_name: tenantName } }), [])

export const useTransferOwnership = () =>
  useAction(
    ({ userId, tenantName }: { userId: string; tenantName: string }, key) =>
      post('/v1/ownership-transfers', { body: { user_id: userId, tenant_name: tenantName }, key }),
    [['members'], ['session']],
  )

export const useInvite = () =>
  useAction((body: InvitationInput, key) => post('/v1/invitations', { body, key }), [['invitations']])

export const useResend = () =>
  useAction(
    (id: string) => post('/v1/invitations/{invitation_id}/resend', { path: { invitation_id: id } }),
    [['invitations']],
  )

export const useRevoke = () =>
  useAction(
    (id: string) => remove('/v1/invitations/{invitation_id}', { path: { invitation_id: id } }),
    [['invitations']],
  )

export const lookUpInvitation = (token: string) => post('/v1/invitations/lookup', { body: { token } })

export const acceptInvitation = (body: Schemas['InvitationAccept']) => post('/v1/invitations/accept', { body })

export const switchTenant = (id: string) => post('/v1/tenants/{tenant_id}/switch', { path: { tenant_id: id } })

export const useCreateTenant = () =>
  useAction((name: string, key) => post('/v1/tenants', { body: { name }, key }), [['own-tenants']])

export const useExportTenant = () =>
  useAction(
    ({ id, measurements }: { id: string; measurements: boolean }, key) =>
      post('/v1/tenants/{tenant_id}/exports', { path: { tenant_id: id }, body: { measurements }, key }),
    [['jobs']],
  )

export const useRequestDeletion = () =>
  useAction(
    ({ id, tenantName }: { id: string; tenantName: string }) =>
      post('/v1/tenants/{tenant_id}/deletion', { path: { tenant_id: id }, body: { tenant_name: tenantName } }),
    [['own-tenants']],
  )

export const useCancelDeletion = () =>
  useAction((id: string) => remove('/v1/tenants/{tenant_id}/deletion', { path: { tenant_id: id } }), [['own-tenants']])

export const useSetTenant = () =>
  useAction(
    ({ id, ...body }: { id: string; name?: string; service_traffic?: boolean }) =>
      put('/v1/tenants/{tenant_id}', { path: { tenant_id: id }, body }),
    [['own-tenants'], ['session']],
  )
