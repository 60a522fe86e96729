/** Meshes and their members. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, patch, post, put, remove, tagged } from './client'
import { listing, reading } from './query'
import type { Mesh, Strategy } from './types'

export const meshesQuery = listing(['meshes'], '/v1/meshes')

/** A mesh with the version it was read at, which a change must name. */
export const meshQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'mesh'],
    queryFn: async () => {
      const { data, etag } = await tagged('/v1/meshes/{mesh_id}', { path: { mesh_id: meshId } })
      return { mesh: data, etag }
    },
  })

/** The VMs and zones of a mesh in the order of every matrix. */
export const rosterQuery = (meshId: string) =>
  reading(['meshes', meshId, 'roster'], '/v1/meshes/{mesh_id}/roster', { path: { mesh_id: meshId } })

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
  remove_gone_after_s?: number | null
  strategy?: Strategy
  period_windows?: number
  representatives?: number
}

export const useCreateMesh = () =>
  useAction((body: MeshInput, key) => post('/v1/meshes', { body: { ...NEW_MESH, ...body }, key }), [['meshes']])

export const useUpdateMesh = (meshId: string, etag: string) =>
  useAction(
    (body: Partial<MeshInput>) => patch('/v1/meshes/{mesh_id}', { path: { mesh_id: meshId }, body, etag }),
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
      post('/v1/meshes/{mesh_id}/plan-previews', { path: { mesh_id: mesh.id }, body: settings, signal }),
    placeholderData: keepPreviousData,
  })

/** The agents that follow the newest plan of a mesh; asked again until all do, and every half minute after. */
export const planAdoptionQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'plan-adoption'],
    queryFn: () => get('/v1/meshes/{mesh_id}/plan-followers', { path: { mesh_id: meshId } }),
    refetchInterval: ({ state: { data } }) => (data?.active_everywhere ? 5_000 : 2_000),
  })

export const useDeleteMesh = () =>
  useAction((meshId: string) => remove('/v1/meshes/{mesh_id}', { path: { mesh_id: meshId } }), [['meshes']])

export const useAddVm = (meshId: string) =>
  useAction(
    (vmId: string) => put('/v1/meshes/{mesh_id}/vms/{vm_id}', { path: { mesh_id: meshId, vm_id: vmId } }),
    [['meshes']],
  )

export const useRemoveVm = (meshId: string) =>
  useAction(
    (vmId: string) => remove('/v1/meshes/{mesh_id}/vms/{vm_id}', { path: { mesh_id: meshId, vm_id: vmId } }),
    [['meshes']],
  )
