/** The state of a mesh in one word, decided from its health. */

import type { MeshHealth, OpenIncident } from '~/api/overview'
import type { Tone } from '~/ui/State'
import { SEVERITIES } from '~/ui/severity'

export type Verdict =
  | { kind: 'degraded'; incident: OpenIncident; others: number }
  /** Paths were measured before, and none is now. */
  | { kind: 'blind'; since: string }
  /** Some paths are not measured, or some agents are silent. */
  | { kind: 'partial' }
  /** Paths are measured, but nothing would open an incident. */
  | { kind: 'unevaluated'; since: string | null }
  | { kind: 'noRules' }
  | { kind: 'waiting' }
  /** Most paths are too young for alert rules. */
  | { kind: 'learning'; minutes: number; of: number }
  | { kind: 'noPaths' }
  | { kind: 'noVms' }
  | { kind: 'healthy' }

/** Rules are evaluated with each window; a longer delay is not a slow window. */
const EVALUATED_WITHIN_MS = 5 * 60_000

/** Return whether alert rules were evaluated on the newest windows; a mesh without windows needs no evaluation. */
export const isEvaluated = ({ ended_at, evaluated_until: until }: MeshHealth) =>
  ended_at === null || (until !== null && Date.parse(ended_at) - Date.parse(until) <= EVALUATED_WITHIN_MS)

/** Return the verdict on a mesh: anything that is not known keeps it from being healthy. */
export function verdictOf(mesh: MeshHealth): Verdict {
  const [incident] = mesh.worst_incidents
  if (incident) return { kind: 'degraded', incident, others: mesh.open_incidents - 1 }
  if (mesh.vms === 0) return { kind: 'noVms' }
  const { planned, measured, lost } = mesh.paths
  if (planned === 0) return { kind: 'noPaths' }
  if (mesh.ended_at === null) return { kind: 'waiting' }
  if (measured === 0 && lost === 0) return { kind: 'blind', since: mesh.ended_at }
  const until = mesh.evaluated_until
  // Windows that ended while the agents still started: their first packets found nobody.
  if (measured === 0 && until === null) return { kind: 'waiting' }
  const { settling_paths, settled_s, settling_s } = mesh.learning
  if (isEvaluated(mesh) && 2 * settling_paths > planned && mesh.agents.silent === 0) {
    return { kind: 'learning', minutes: Math.floor(settled_s / 60), of: Math.ceil(settling_s / 60) }
  }
  if (measured < planned || mesh.agents.silent > 0) return { kind: 'partial' }
  if (mesh.alert_rules === 0) return { kind: 'noRules' }
  if (!isEvaluated(mesh)) return { kind: 'unevaluated', since: until }
  return { kind: 'healthy' }
}

// A notification takes some seconds.
const TOLD_WITHIN_MS = 60_000

/** Return whether no receiver was notified of an incident that nobody has silenced. */
export const isUntold = ({ receivers_notified, onset_at }: OpenIncident, now: number) =>
  receivers_notified === 0 && now - Date.parse(onset_at) > TOLD_WITHIN_MS

/** Return the minutes until most paths have a usual value; `null` where most have one. */
export function minutesToBaselines({ learning, paths }: MeshHealth): number | null {
  if (2 * learning.unlearnt_paths <= paths.planned) return null
  return Math.max(1, Math.ceil((learning.baseline_s - learning.learnt_s) / 60))
}

/** Return whether any mesh was ever measured: without that, the absence of incidents and findings says nothing. */
export const isMeasured = (meshes: readonly MeshHealth[]) => meshes.some(({ ended_at }) => ended_at !== null)

const TONES: Record<Exclude<Verdict['kind'], 'degraded'>, Tone> = {
  blind: 'bad',
  partial: 'warn',
  unevaluated: 'warn',
  noRules: 'warn',
  waiting: 'info',
  learning: 'info',
  noPaths: 'info',
  noVms: 'info',
  healthy: 'good',
}

const breaksObjective = ({ applications }: OpenIncident) =>
  applications.some(({ performance, objective }) => (performance ?? 1) < (objective ?? 0))

/** Return the tone of a verdict; an application below its objective is as bad as a critical incident. */
export function toneOf(verdict: Verdict): Tone {
  if (verdict.kind !== 'degraded') return TONES[verdict.kind]
  return breaksObjective(verdict.incident) ? 'bad' : SEVERITIES[verdict.incident.severity].tone
}

const TONE_ORDER: Tone[] = ['bad', 'warn', 'info', 'good']

/** Return the largest share of its best that an application loses by the incident that a mesh is named after. */
const costOf = ({ worst_incidents: [first] }: MeshHealth) =>
  Math.max(0, ...(first?.applications ?? []).map(({ cost }) => cost ?? 0))

/** Return the meshes in the order of concern: by cost, then by tone; others keep their order. */
export function worstFirst(meshes: readonly MeshHealth[]): MeshHealth[] {
  const rank = (mesh: MeshHealth) => TONE_ORDER.indexOf(toneOf(verdictOf(mesh)))
  return meshes.toSorted((a, b) => costOf(b) - costOf(a) || rank(a) - rank(b))
}
