import { useQuery } from '@tanstack/react-query'
import { useMatches, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { named } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import styles from './shell.module.css'
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

/** Pages that every mesh has; from others, another mesh opens with its heatmap. */
const PAGES = ['/meshes/$meshId/explore', '/meshes/$meshId/settings'] as const

/** The mesh of a page about one mesh, to show the page of another. Other pages are about all meshes: they have none. */
export function MeshPicker() {
  const navigate = useNavigate()
  const { data } = useQuery(meshesQuery)
  const mesh = useAddressedMesh()
  const shown = useMatches({ select: (matches) => matches.at(-1)?.fullPath })
  if (!data || !mesh) return null
  const to = PAGES.find((page) => page === shown) ?? '/meshes/$meshId'
  return (
    <Choice
      aria-label={strings.mesh}
      className={styles.mesh}
      size="xs"
      data={named(data)}
      value={mesh.id}
      onChange={(value) => void navigate({ to, params: { meshId: value } })}
    />
  )
}
