import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { strings } from './strings'

/** Return the mesh that the open page is about; undefined on pages about all meshes. */
export function useAddressedMesh(): Mesh | undefined {
  const { data } = useQuery(meshesQuery)
  const { meshId } = useParams({ strict: false })
  return data?.find(({ id }) => id === meshId)
}

/** Return the mesh of the address; on pages about no mesh, the first one. */
export function useCurrentMesh(): Mesh | undefined {
  const { data } = useQuery(meshesQuery)
  const addressed = useAddressedMesh()
  const { mesh } = useSearch({ strict: false })
  return addressed ?? data?.find(({ id }) => id === mesh) ?? data?.[0]
}

/** Choose another mesh. Pages about all meshes have no picker: it would filter nothing. */
export function MeshPicker() {
  const navigate = useNavigate()
  const { data } = useQuery(meshesQuery)
  const mesh = useAddressedMesh()
  if (!data || !mesh) return null
  return (
    <NativeSelect
      aria-label={strings.mesh}
      size="xs"
      w={148}
      data={data.map(({ id, name }) => ({ value: id, label: name }))}
      value={mesh.id}
      onChange={({ currentTarget: { value: meshId } }) => void navigate({ to: '/meshes/$meshId', params: { meshId } })}
    />
  )
}
