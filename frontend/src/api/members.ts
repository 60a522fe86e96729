/** Members, invitations, and the tenants of the signed-in person. */

import { queryOptions, useQuery } from '@tanstack/react-query'
import { sessionQuery } from './access'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Role = Schemas['Role']
export type Member = Schemas['MemberRead']
export type Invitation = Schemas['InvitationRead']
export type InvitationCreated = Schemas['InvitationCreated']
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

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/members', { params: { query: page(cursor) } }))),
})

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/invitations', { params: { query: page(cursor) } }))),
})

export const ownTenantsQuery = queryOptions({
  queryKey: ['own-tenants'],
  queryFn: () => unwrap(client.GET('/v1/tenants')),
  staleTime: 60_000,
})

export const useSetRole = () =>
  useAction(
    ({ id, role }: { id: string; role: Role }) =>
      unwrap(client.PUT('/v1/members/{user_id}/role', { params: { path: { user_id: id } }, body: { role } })),
    [['members'], ['session']],
  )

export const useSetMeshes = () =>
  useAction(
    ({ id, meshIds }: { id: string; meshIds: string[] | null }) =>
      unwrap(
        client.PUT('/v1/members/{user_id}/meshes', { params: { path: { user_id: id } }, body: { mesh_ids: meshIds } }),
      ),
    [['members']],
  )

export const useRemoveMember = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/members/{user_id}', { params: { path: { user_id: id } } })),
    [['members']],
  )

export const useLeaveTenant = () =>
  useAction(
    (tenantName: string) => unwrap(client.POST('/v1/members/self/leave', { body: { tenant_name: tenantName } })),
    [],
  )

export const useTransferOwnership = () =>
  useAction(
    ({ userId, tenantName }: { userId: string; tenantName: string }, key) =>
      unwrap(
        client.POST('/v1/ownership-transfers', {
          body: { user_id: userId, tenant_name: tenantName },
          headers: once(key),
        }),
      ),
    [['members'], ['session']],
  )

export const useInvite = () =>
  useAction(
    (body: InvitationInput, key) => unwrap(client.POST('/v1/invitations', { body, headers: once(key) })),
    [['invitations']],
  )

export const useResend = () =>
  useAction(
    (id: string) =>
      unwrap(client.POST('/v1/invitations/{invitation_id}/resend', { params: { path: { invitation_id: id } } })),
    [['invitations']],
  )

export const useRevoke = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/invitations/{invitation_id}', { params: { path: { invitation_id: id } } })),
    [['invitations']],
  )

export const lookUpInvitation = (token: string) => unwrap(client.POST('/v1/invitations/lookup', { body: { token } }))

export const acceptInvitation = (body: Schemas['InvitationAccept']) =>
  unwrap(client.POST('/v1/invitations/accept', { body }))

export const switchTenant = (id: string) =>
  unwrap(client.POST('/v1/tenants/{tenant_id}/switch', { params: { path: { tenant_id: id } } }))

export const useCreateTenant = () =>
  useAction(
    (name: string, key) => unwrap(client.POST('/v1/tenants', { body: { name }, headers: once(key) })),
    [['own-tenants']],
  )

export const useExportTenant = () =>
  useAction(
    ({ id, measurements }: { id: string; measurements: boolean }, key) =>
      unwrap(
        client.POST('/v1/tenants/{tenant_id}/exports', {
          params: { path: { tenant_id: id } },
          body: { measurements },
          headers: once(key),
        }),
      ),
    [['jobs']],
  )

export const useRequestDeletion = () =>
  useAction(
    ({ id, tenantName }: { id: string; tenantName: string }) =>
      unwrap(
        client.POST('/v1/tenants/{tenant_id}/deletion', {
          params: { path: { tenant_id: id } },
          body: { tenant_name: tenantName },
        }),
      ),
    [['own-tenants']],
  )

export const useCancelDeletion = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/tenants/{tenant_id}/deletion', { params: { path: { tenant_id: id } } })),
    [['own-tenants']],
  )

export const useRenameTenant = () =>
  useAction(
    ({ id, name }: { id: string; name: string }) =>
      unwrap(client.PUT('/v1/tenants/{tenant_id}', { params: { path: { tenant_id: id } }, body: { name } })),
    [['own-tenants'], ['session']],
  )
