/** Values of incidents for tests. */

import type { Impact, Incident } from '~/api/incidents'
import { recorded } from './recorded'

const IMPACT: Impact = {
  rule: 'Delay above its baseline',
  kind: 'baseline',
  metric: 'one_way_delay',
  statistic: 'p50',
  value: 412_000,
  usual: 21_000,
  worst: [
    {
      source: { id: 'v1', name: 'a-1' },
      target: { id: 'v2', name: 'b-1' },
      value: 420_000,
      usual: 20_000,
      limit: 36_000,
    },
  ],
}

const RECORDED = recorded('/v1/incidents/{incident_id}')
const REASON = { paths: null, compared: null, change_ns: null, loss: null, applications: [] }

/** Return an open incident of the egress of a VM, with changes. */
export const incident = (changes: Partial<Incident> = {}): Incident => ({
  ...{ ...RECORDED, id: 'i', mesh: { id: 'm', name: 'production' }, state: 'open', severity: 'critical', paths: 5 },
  title: 'paths from a-1',
  culprit: { suspect: 'egress', at: { id: 'v1', name: 'a-1' }, other: null, words: 'paths from a-1' },
  worst_path: null,
  onset_at: '2026-11-23T10:42:00Z',
  opened_at: '2026-11-23T10:42:20Z',
  seen_at: '2026-11-23T10:58:00Z',
  episodes: [{ started_at: '2026-11-23T10:42:00Z', ended_at: null }],
  evidence: {
    ...RECORDED.evidence,
    hypotheses: [
      {
        ...{ suspect: 'egress', at: { id: 'v1', name: 'a-1' }, other: null, words: 'paths from a-1' },
        ...{ score: 18.4, bad: 5, known: 5, explained: 5 },
      },
      {
        ...{ suspect: 'zone_pair', at: { id: 'z1', name: 'eu-1a' }, other: { id: 'z2', name: 'eu-1b' } },
        words: 'zone eu-1a to zone eu-1b',
        ...{ score: 2.1, bad: 2, known: 4, explained: 2 },
      },
    ],
    heatmap: {
      ...{ ids: ['v1', 'v2'], names: ['a-1', 'b-1'], unit: 'deviations' },
      values: [
        [null, 39],
        [0.1, null],
      ],
      changes_ns: [
        [null, 400_000],
        [1_000, null],
      ],
    },
    paths: 5,
    impact: IMPACT,
  },
  figures: {
    ...RECORDED.figures,
    at: '2026-11-23T10:43:00Z',
    costs: [{ id: 'a', name: 'checkout', points: 18, performance: 82, objective: 90 }],
    links: {
      incident: 'https://sinemora.example/incidents/i',
      heatmap: 'https://sinemora.example/meshes/m?from=2026-11-23T10%3A32%3A00Z&select=v1',
      moves: ['https://sinemora.example/applications/a'],
    },
    sentences: [
      'One-way delay, p50: 21.0 µs → 412 µs (+391 µs, limit 36.0 µs) on 5 of 5 paths from a-1.',
      'checkout: 18.0 points of performance lost on these paths (predicted).',
    ],
  },
  verdict: {
    ...{ kind: 'network', others: [] },
    reasons: [{ ...REASON, code: 'one_way_up', paths: 5, compared: 5, change_ns: 391_000 }],
  },
  runbooks: [{ rule: 'Delay above its baseline', url: 'https://runbooks.example/slow' }],
  applications: [{ id: 'a', name: 'checkout', performance: 0.82, cost: 0.18, objective: 0.9 }],
  similar: [],
  ...changes,
})
