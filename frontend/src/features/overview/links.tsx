import type { ReactNode } from 'react'
import type { MeshHealth, OpenIncident } from '~/api/overview'
import { NOW } from '~/lib/spans'
import { zoneView } from '~/lib/zoneView'
import { TextLink } from '~/ui/links'

interface Props {
  mesh: MeshHealth
  incident: OpenIncident
  children: ReactNode
}

/** A link to the paths of an incident: one path, a pair of zones, or the heatmap with its VM marked. */
export function PathsLink({ mesh, incident: { culprit }, children }: Props) {
  const [source, target] = [culprit.at?.id, culprit.other?.id ?? culprit.at?.id]
  if (source && target && source !== target && ['path', 'pair'].includes(culprit.suspect)) {
    return (
      <TextLink
        size="sm"
        to="/meshes/$meshId/paths/$source/$target"
        params={{ meshId: mesh.id, source, target }}
        search={NOW}
      >
        {children}
      </TextLink>
    )
  }
  const view = source && target ? zoneView(mesh.zones, source, target) : undefined
  const marked = view ? { view } : source ? { select: source } : {}
  return (
    <TextLink size="sm" to="/meshes/$meshId" params={{ meshId: mesh.id }} search={{ ...NOW, ...marked }}>
      {children}
    </TextLink>
  )
}
