/** Marks on the map of zones: what a median of a whole zone pair hides. */

import type { MeshHealth, OpenIncident } from '~/api/overview'
import type { Basis } from './deviation'

export type MarkKind = 'vm' | 'silent' | 'loss'

/** `first`: of the incident that the headline names. */
export interface Mark {
  kind: MarkKind
  first: boolean
}

/** Return the kind of mark of an incident; null for one that the colour of its zone pairs shows. */
export function kindOf({ culprit, metric }: OpenIncident): MarkKind | null {
  if (culprit.suspect === 'agent') return 'silent'
  if (metric === 'loss') return 'loss'
  return ['zone', 'zone_pair', 'mesh', 'application'].includes(culprit.suspect) ? null : 'vm'
}

/** Return whether an incident is about the paths from one zone to another. */
export function isOf({ culprit, zones }: OpenIncident, source: string, target: string): boolean {
  const [one, other = one] = zones
  if (one === undefined) return false
  switch (culprit.suspect) {
    case 'egress':
      return source === one
    case 'ingress':
      return target === one
    case 'path':
    case 'zone_pair':
      return source === one && target === other
    case 'pair':
      return (source === one && target === other) || (source === other && target === one)
    default:
      return source === one || target === one
  }
}

const HOUR_MS = 3_600_000
/** Half of the time that a usual value is made of: one that was learnt while an incident lasted is no longer usual. */
const HALF_MS: Record<Basis, number> = {
  last_hour: HOUR_MS / 3,
  last_day: 12 * HOUR_MS,
  same_hour: 7 * 24 * HOUR_MS,
  all_hours: 7 * 24 * HOUR_MS,
}

/** Return whether the usual value of a zone pair is from the time of an incident of its paths. */
export const isCovered = (incident: OpenIncident, source: string, target: string, basis: Basis | null, now: number) =>
  basis !== null && isOf(incident, source, target) && now - Date.parse(incident.onset_at) > HALF_MS[basis]

/** Return the marks of a zone pair: one of each kind. Incidents of the pair itself mark it until its minute has a colour. */
export function marksOf(
  { worst_incidents, losing }: MeshHealth,
  source: string,
  target: string,
  isUnusual: boolean,
): Mark[] {
  const marks = worst_incidents.flatMap((incident, place): Mark[] => {
    const kind = kindOf(incident) ?? (incident.culprit.suspect === 'zone_pair' && !isUnusual ? 'vm' : null)
    return kind && isOf(incident, source, target) ? [{ kind, first: place === 0 }] : []
  })
  if (losing.some((one) => one.source === source && one.target === target)) marks.push({ kind: 'loss', first: false })
  return marks.filter(({ kind }, at) => marks.findIndex((other) => other.kind === kind) === at)
}
