/** Meshes and their members. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, etagOf, everyItem, page, unwrap } from './client'
import type { Mesh, Strategy } from './types'

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
      return { mesh: await unwrap(Promise.resolve(call)), etag: etagOf(call.response) }
    },
  })

/** The VMs and zones of a mesh in the order of every matrix. */
export const rosterQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'roster'],
    queryFn: () => unwrap(client.GET('/v1/meshes/{mesh_id}/roster', { params: { path: { mesh_id: meshId } } })),
  })

/** Settings of a new mesh that its form does not ask for. */
export const NEW_MESH = {
  flows: 1,
  spike_threshold_ns: 500_000,
  loss_deadline_ms: 1_000,
  strategy: 'full' as const,
  period_windows: 10,
  representatives: 2,
}

export interface MeshInput {
  name: string
  window_s: number
  rate_hz: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128
  spike_threshold_ns?: number
  loss_deadline_ms?: number
  strategy?: Strategy
  period_windows?: number
  representatives?: number
}

export const useCreateMesh = () =>
  useAction(
    (body: MeshInput, key) => unwrap(client.POST('/v1/meshes', { body: { ...NEW_MESH, ...body }, headers: once(key) })),
    [['meshes']],
  )

export const useUpdateMesh = (meshId: string, etag: string) =>
  useAction(
    (body: Partial<MeshInput>) =>
      unwrap(
        client.PATCH('/v1/meshes/{mesh_id}', {
          params: { path: { mesh_id: meshId } },
          body,
          headers: { 'If-Match': etag },
        }),
      ),
    [['meshes']],
  )

/** Settings to compare strategies under; prices in USD per GiB moved. */
export interface PlanSettings {
  window_s: number
  rate_hz: MeshInput['rate_hz']
  period_windows: number
  representatives: number
  prices: { between_zones: number; between_regions: number } | null
}

/** The cost of each strategy of a mesh under equal settings. */
export const planPreviewQuery = (mesh: Mesh, settings: PlanSettings) =>
  queryOptions({
    queryKey: ['meshes', mesh.id, 'plan-preview', mesh.revision, settings],
    queryFn: ({ signal }) =>
      unwrap(
        client.POST('/v1/meshes/{mesh_id}/plan-previews', {
          params: { path: { mesh_id: mesh.id } },
          body: settings,
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

/** The agents that follow the newest plan of a mesh; asked again until all do, and every half minute after. */
export const planAdoptionQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'plan-adoption'],
    queryFn: () => unwrap(client.GET('/v1/meshes/{mesh_id}/plan-followers', { params: { path: { mesh_id: meshId } } })),
    refetchInterval: ({ state: { data } }) => (data?.active_everywhere ? 5_000 : 2_000),
  })

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
