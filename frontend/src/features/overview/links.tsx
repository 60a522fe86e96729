import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MeshHealth, OpenIncident } from '~/api/overview'
import { NOW } from '~/lib/spans'
import { zoneView } from '~/lib/zoneView'

interface Props {
  mesh: MeshHealth
  incident: OpenIncident
  children: ReactNode
}

/** A link to the paths of an incident: one path, a pair of zones, or the whole mesh. */
export function PathsLink({ mesh, incident: { culprit }, children }: Props) {
  const [source, target] = [culprit.at?.id, culprit.other?.id ?? culprit.at?.id]
  if (source && target && source !== target && ['path', 'pair'].includes(culprit.suspect)) {
    return (
      <Anchor
        size="sm"
        renderRoot={(root) => (
          <Link
            {...root}
            to="/meshes/$meshId/paths/$source/$target"
            params={{ meshId: mesh.id, source, target }}
            search={NOW}
          />
        )}
      >
        {children}
      </Anchor>
    )
  }
  const view = source && target ? zoneView(mesh.zones, source, target) : undefined
  return (
    <Anchor
      size="sm"
      renderRoot={(root) => (
        <Link {...root} to="/meshes/$meshId" params={{ meshId: mesh.id }} search={view ? { ...NOW, view } : NOW} />
      )}
    >
      {children}
    </Anchor>
  )
}
