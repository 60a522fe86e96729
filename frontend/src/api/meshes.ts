/** Meshes and their members. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'

export const meshesQuery = queryOptions({
  queryKey: ['meshes'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/meshes', { params: { query: page(cursor) } }))),
})

/** A mesh with the version it was read at, which a change must name. */
export const meshQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'mesh'],
    queryFn: async () => {
      const call = await client.GET('/v1/meshes/{mesh_id}', { params: { path: { mesh_id: meshId } } })
      return { mesh: await unwrap(Promise.resolve(call)), etag: call.response.headers.get('ETag') ?? '*' }
    },
  })

/** The VMs and zones of a mesh in the order of every matrix. */
export const rosterQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'roster'],
    queryFn: () => unwrap(client.GET('/v1/meshes/{mesh_id}/roster', { params: { path: { mesh_id: meshId } } })),
  })

/** Settings of a new mesh that its form does not ask for. */
export const NEW_MESH = { flows: 1, spike_threshold_ns: 500_000, loss_deadline_ms: 1_000 }

export interface MeshInput {
  name: string
  window_s: number
  rate_hz: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128
  spike_threshold_ns?: number
  loss_deadline_ms?: number
}

export const useCreateMesh = () =>
  useAction(
    (body: MeshInput, key) => unwrap(client.POST('/v1/meshes', { body: { ...NEW_MESH, ...body }, headers: once(key) })),
    [['meshes']],
  )

export const useUpdateMesh = (meshId: string, etag: string) =>
  useAction(
    (body: MeshInput) =>
      unwrap(
        client.PATCH('/v1/meshes/{mesh_id}', {
          params: { path: { mesh_id: meshId } },
          body,
          headers: { 'If-Match': etag },
        }),
      ),
    [['meshes']],
  )

export const useDeleteMesh = () =>
  useAction(
    (meshId: string) => unwrap(client.DELETE('/v1/meshes/{mesh_id}', { params: { path: { mesh_id: meshId } } })),
    [['meshes']],
  )

export const useAddVm = (meshId: string) =>
  useAction(
    (vmId: string) =>
      unwrap(client.PUT('/v1/meshes/{mesh_id}/vms/{vm_id}', { params: { path: { mesh_id: meshId, vm_id: vmId } } })),
    [['meshes']],
  )

export const useRemoveVm = (meshId: string) =>
  useAction(
    (vmId: string) =>
      unwrap(client.DELETE('/v1/meshes/{mesh_id}/vms/{vm_id}', { params: { path: { mesh_id: meshId, vm_id: vmId } } })),
    [['meshes']],
  )
