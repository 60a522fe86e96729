/** Artifacts: published files, their copies on VMs, and the setting of a mesh. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { ArtifactCopies, ArtifactSettingsInput } from './types'

const ofArtifact = (artifactId: string) => ({ params: { path: { artifact_id: artifactId } } })
const ofMesh = (meshId: string) => ({ params: { path: { mesh_id: meshId } } })

export const artifactsQuery = queryOptions({
  queryKey: ['artifacts'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/artifacts', { params: { query: page(cursor) } }))),
  refetchInterval: 5_000,
})

export const isSpreading = ({ items }: ArtifactCopies) =>
  items.some(({ state }) => state === 'waiting' || state === 'fetching')

/** The copies of an artifact: every second while they spread. */
export const artifactCopiesQuery = (artifactId: string) =>
  queryOptions({
    queryKey: ['artifacts', artifactId, 'copies'],
    queryFn: () => unwrap(client.GET('/v1/artifacts/{artifact_id}/copies', ofArtifact(artifactId))),
    refetchInterval: ({ state }) => (state.data && isSpreading(state.data) ? 1_000 : 10_000),
  })

export const artifactSettingsQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'artifact-settings'],
    queryFn: () => unwrap(client.GET('/v1/meshes/{mesh_id}/artifact-settings', ofMesh(meshId))),
    refetchInterval: 10_000,
  })

export const useWriteArtifactSettings = (meshId: string) =>
  useAction(
    (body: ArtifactSettingsInput) =>
      unwrap(client.PUT('/v1/meshes/{mesh_id}/artifact-settings', { ...ofMesh(meshId), body })),
    [['meshes', meshId, 'artifact-settings']],
  )

export const useRequestCopies = (artifactId: string) =>
  useAction(
    (vmIds: string[], key) =>
      unwrap(
        client.POST('/v1/artifacts/{artifact_id}/copies', {
          ...ofArtifact(artifactId),
          body: { vm_ids: vmIds },
          headers: once(key),
        }),
      ),
    [['artifacts']],
  )

export const useDeleteArtifact = () =>
  useAction(
    (artifactId: string) => unwrap(client.DELETE('/v1/artifacts/{artifact_id}', ofArtifact(artifactId))),
    [['artifacts']],
  )
