/** Incidents that explain why an application misses its objective. */

import type { Incident, IncidentSummary } from '~/api/incidents'

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
  open: readonly Pick<IncidentSummary, 'id' | 'title' | 'mesh' | 'suspect' | 'applications'>[],
): Cause[] {
  const names = new Set(applications.map(({ name }) => name))
  return open
    .filter((other) => other.id !== id && other.mesh.id === mesh.id && other.suspect !== 'application')
    .flatMap((other) =>
      other.applications
        .filter((one): one is typeof one & { cost: number } => names.has(one.name) && (one.cost ?? 0) >= LEAST)
        .map(({ name, cost }) => ({ id: other.id, title: other.title, name, cost })),
    )
    .sort((a, b) => b.cost - a.cost)
}
