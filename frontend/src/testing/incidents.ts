/** Values of incidents for tests. */

import type { Impact, Incident } from '~/api/incidents'

export const IMPACT: Impact = {
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

/** Return an open incident of the egress of a VM, with changes. */
export const incident = (changes: Partial<Incident> = {}): Incident => ({
  id: 'i',
  mesh: { id: 'm', name: 'production' },
  state: 'open',
  severity: 'critical',
  title: 'egress of a-1',
  culprit: { suspect: 'egress', at: { id: 'v1', name: 'a-1' }, other: null, words: 'egress of a-1' },
  paths: 5,
  rules: ['Delay above its baseline'],
  onset_at: '2026-11-23T10:42:00Z',
  opened_at: '2026-11-23T10:42:20Z',
  seen_at: '2026-11-23T10:58:00Z',
  ended_at: null,
  timescale: 'short',
  assignee: null,
  silenced_by: null,
  merged_into: null,
  found_late_at: null,
  recurrence: null,
  episodes: [{ started_at: '2026-11-23T10:42:00Z', ended_at: null }],
  version: 1,
  evidence: {
    token_bucket: null,
    hosts: [],
    fairness: null,
    hypotheses: [
      {
        suspect: 'egress',
        at: { id: 'v1', name: 'a-1' },
        other: null,
        words: 'egress of a-1',
        score: 18.4,
        bad: 5,
        known: 5,
        explained: 5,
      },
      {
        suspect: 'zone_pair',
        at: { id: 'z1', name: 'eu-1a' },
        other: { id: 'z2', name: 'eu-1b' },
        words: 'zone eu-1a to zone eu-1b',
        score: 2.1,
        bad: 2,
        known: 4,
        explained: 2,
      },
    ],
    heatmap: {
      ids: ['v1', 'v2'],
      names: ['a-1', 'b-1'],
      unit: 'deviations',
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
    rise_ns: 391_000,
    impact: IMPACT,
    loss: 0,
  },
  verdict: {
    kind: 'network',
    others: [],
    reasons: [
      { code: 'one_way_up', paths: 5, compared: 5, change_ns: 391_000, loss: null, applications: [] },
      { code: 'reverse_unchanged', paths: null, compared: null, change_ns: 200, loss: null, applications: [] },
      { code: 'round_trip_changed', paths: null, compared: null, change_ns: 391_200, loss: null, applications: [] },
      {
        code: 'applications_lose',
        paths: null,
        compared: null,
        change_ns: null,
        loss: null,
        applications: ['checkout'],
      },
    ],
  },
  runbooks: [{ rule: 'Delay above its baseline', url: 'https://runbooks.example/slow' }],
  applications: [{ id: 'a', name: 'checkout', performance: 0.82, cost: 0.18, objective: 0.9 }],
  timeline: [{ at: '2026-11-23T10:42:20Z', kind: 'opened', actor: 'Sinemora', text: 'egress of a-1' }],
  similar: [],
  ...changes,
})
