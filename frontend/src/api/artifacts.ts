/** Artifacts: published files, their copies on VMs, and the setting of a mesh. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, get, post, put, remove } from './client'
import type { ArtifactCopies, ArtifactSettingsInput } from './types'

const ofArtifact = (artifactId: string) => ({ path: { artifact_id: artifactId } })
const ofMesh = (meshId: string) => ({ path: { mesh_id: meshId } })

export const artifactsQuery = queryOptions({
  queryKey: ['artifacts'],
  queryFn: () => everyItem('/v1/artifacts'),
  refetchInterval: 5_000,
})

export const isSpreading = ({ items }: ArtifactCopies) =>
  items.some(({ state }) => state === 'waiting' || state === 'fetching')

/** The copies of an artifact: every second while they spread. */
export const artifactCopiesQuery = (artifactId: string) =>
  queryOptions({
    queryKey: ['artifacts', artifactId, 'copies'],
    queryFn: () => get('/v1/artifacts/{artifact_id}/copies', ofArtifact(artifactId)),
    refetchInterval: ({ state }) => (state.data && isSpreading(state.data) ? 1_000 : 10_000),
  })

export const artifactSettingsQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'artifact-settings'],
    queryFn: () => get('/v1/meshes/{mesh_id}/artifact-settings', ofMesh(meshId)),
    refetchInterval: 10_000,
  })

export const useWriteArtifactSettings = (meshId: string) =>
  useAction(
    ({ version, ...body }: ArtifactSettingsInput & { version: string }) =>
      put('/v1/meshes/{mesh_id}/artifact-settings', { ...ofMesh(meshId), body, version }),
    [['meshes', meshId, 'artifact-settings']],
  )

export const useRequestCopies = (artifactId: string) =>
  useAction(
    (vmIds: string[], key) =>
      post('/v1/artifacts/{artifact_id}/copies', { ...ofArtifact(artifactId), body: { vm_ids: vmIds }, key }),
    [['artifacts']],
  )

export const useDeleteArtifact = () =>
  useAction((artifactId: string) => remove('/v1/artifacts/{artifact_id}', ofArtifact(artifactId)), [['artifacts']])
