/** Incidents that explain why an application misses its objective. */

import type { Incident } from '~/api/incidents'
import type { MeshHealth } from '~/api/overview'

interface Cause {
  id: string
  title: string
  /** The application, and the share of its best performance that it loses on the paths of the incident. */
  name: string
  cost: number
}

/** A smaller cost is written as 0.0 %. */
const LEAST = 0.0005

/** Return the open incidents about paths on which the applications of an incident lose performance, costliest first. */
export function causesOf(
  { id, mesh, applications }: Pick<Incident, 'id' | 'mesh' | 'applications'>,
  meshes: readonly Pick<MeshHealth, 'id' | 'worst_incidents'>[],
): Cause[] {
  const names = new Set(applications.map(({ name }) => name))
  return meshes
    .flatMap((one) => (one.id === mesh.id ? one.worst_incidents : []))
    .filter((other) => other.id !== id && other.culprit.suspect !== 'application')
    .flatMap((other) =>
      other.applications
        .filter((one): one is typeof one & { cost: number } => names.has(one.name) && (one.cost ?? 0) >= LEAST)
        .map(({ name, cost }) => ({ id: other.id, title: other.title, name, cost })),
    )
    .sort((a, b) => b.cost - a.cost)
}
