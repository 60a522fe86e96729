/** Values of the overview for tests. */

import type { Deviations, MeshHealth, OpenIncident } from '~/api/overview'
import type { Basis } from '~/features/overview/deviation'
import { recorded } from './recorded'

/** Return the values of two zones by pair, row by row. */
export const pairs = <T>(...[a, b, c, d]: [T, T, T, T]) => [
  [a, b],
  [c, d],
]

const [MESH] = recorded('/v1/overview').meshes
const LEARNT = { settling_paths: 0, settled_s: 0, settling_s: 300, unlearnt_paths: 0, learnt_s: 0, baseline_s: 1200 }

/** Return a healthy mesh of six VMs in two zones, with changes. */
export const meshHealth = (changes: Partial<MeshHealth> = {}) =>
  ({
    ...{ ...MESH, id: 'm', name: 'demo', vms: 6, loss: 0, losing: [], learning: LEARNT, proposed: null },
    zones: [
      { id: 'z1', name: 'eu-1a', first: 0, count: 4, region: 'eu' },
      { id: 'z2', name: 'eu-1b', first: 4, count: 2, region: 'eu' },
    ],
    ended_at: '2026-11-23T10:58:50Z',
    paths: { planned: 30, measured: 30, lost: 0, stale: 0, no_data: 0, no_service: 0 },
    agents: { reporting: 6, silent: 0, stopped: 0, enrolled: 0 },
    ...{ open_incidents: 0, worst_incidents: [], recent_incidents: [], last_incident_ended_at: null },
    ...{ alert_rules: 4, evaluated_until: '2026-11-23T10:58:40Z' },
    ...changes,
  }) as MeshHealth

const [OPEN] = MESH?.worst_incidents ?? []

/** Return an open incident between the zones of `meshHealth`, with changes. */
export const openIncident = (changes: Partial<OpenIncident> = {}) =>
  ({
    ...{ ...OPEN, id: 'i', severity: 'critical', title: 'delay increased from eu-1a to eu-1b', zones: ['z1', 'z2'] },
    culprit: {
      ...{ suspect: 'zone_pair', at: { id: 'z1', name: 'eu-1a' }, other: { id: 'z2', name: 'eu-1b' } },
      words: 'eu-1a → eu-1b',
    },
    ...{ metric: 'one_way_delay', rise_ns: 400_000, loss: 0, paths: 8, applications: [] },
    ...{ onset_at: '2026-11-23T10:42:00Z', seen_at: '2026-11-23T10:58:00Z' },
    ...changes,
  }) as OpenIncident

interface More {
  bandNs?: number
  basis?: Basis
  steps?: number
}

/** Return the zones of `meshHealth`: values now, the usual ones (null: none), and what changes are usual. */
export function deviations(values: (number | null)[][], usual: (number | null)[][], more: More = {}): Deviations {
  const { bandNs = 10_000, basis = 'same_hour', steps = 6 } = more
  const each = <T>(of: (now: number | null, before: number | null) => T) =>
    values.map((row, r) => row.map((now, c) => of(now, usual[r]?.[c] ?? null)))
  const known = <T>(value: T) => each((now, before) => (now === null || before === null ? null : value))
  return {
    ...(recorded('/v1/meshes/{mesh_id}/matrix') as Deviations),
    by: 'zone',
    axis: [
      { id: 'z1', name: 'eu-1a' },
      { id: 'z2', name: 'eu-1b' },
    ],
    values: each((now, before) => (now === null || before === null ? null : now - before)),
    clock_error_ns: each(() => 1_000),
    asymmetry_sources: each(() => 'assumed'),
    states: each((now, before) => (now === null ? 'no_data' : before === null ? 'no_baseline' : 'measured')),
    baseline: { value_ns: usual, dead_band_ns: known(bandNs), basis: known(basis), steps: each(() => steps) },
  }
}
