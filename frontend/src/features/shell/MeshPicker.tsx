import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { strings } from './strings'

/** The mesh of the address; on pages about no mesh, the first one. */
export function useCurrentMesh(): Mesh | undefined {
  const { data } = useQuery(meshesQuery)
  const { meshId } = useParams({ strict: false })
  const { mesh } = useSearch({ strict: false })
  return data?.find(({ id }) => id === (meshId ?? mesh)) ?? data?.[0]
}

export function MeshPicker() {
  const navigate = useNavigate()
  const { data } = useQuery(meshesQuery)
  const mesh = useCurrentMesh()
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
