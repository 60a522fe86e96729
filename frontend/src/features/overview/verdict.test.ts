import { describe, expect, test } from 'vitest'
import type { MeshHealth } from '~/api/overview'
import { meshHealth, openIncident } from '~/testing/overview'
import { isUntold, minutesToBaselines, toneOf, verdictOf, worstFirst } from './verdict'

const PATHS = { planned: 30, measured: 30, lost: 0, stale: 0, no_data: 0, no_service: 0 }

const YOUNG = { ...meshHealth().learning, settling_paths: 30, settled_s: 190, unlearnt_paths: 30, learnt_s: 190 }

describe('only a mesh that is measured and evaluated as a whole is healthy', () => {
  test.each<[string, Partial<MeshHealth>, string, string]>([
    ['everything measured', {}, 'healthy', 'good'],
    ['no VM', { vms: 0, paths: { ...PATHS, planned: 0, measured: 0 }, ended_at: null }, 'noVms', 'info'],
    ['one VM', { vms: 1, paths: { ...PATHS, planned: 0, measured: 0 }, ended_at: null }, 'noPaths', 'info'],
    ['never measured', { ended_at: null, paths: { ...PATHS, measured: 0, no_data: 30 } }, 'waiting', 'info'],
    ['measured once', { paths: { ...PATHS, measured: 0, stale: 30 } }, 'blind', 'bad'],
    ['every packet lost', { paths: { ...PATHS, measured: 0, lost: 30 } }, 'partial', 'warn'],
    [
      'only packets sent while the agents started',
      { evaluated_until: null, paths: { ...PATHS, measured: 0, lost: 30 } },
      'waiting',
      'info',
    ],
    ['one path lost', { paths: { ...PATHS, measured: 29, lost: 1 } }, 'partial', 'warn'],
    ['one path without data', { paths: { ...PATHS, measured: 29, no_data: 1 } }, 'partial', 'warn'],
    ['a silent agent', { agents: { reporting: 5, silent: 1, stopped: 0, enrolled: 0 } }, 'partial', 'warn'],
    ['no rules', { alert_rules: 0 }, 'noRules', 'warn'],
    ['rules never evaluated', { evaluated_until: null }, 'unevaluated', 'warn'],
    ['rules evaluated long ago', { evaluated_until: '2026-11-23T10:30:00Z' }, 'unevaluated', 'warn'],
    ['most paths too young for rules', { learning: YOUNG }, 'learning', 'info'],
    [
      'young paths that are not all measured',
      { learning: YOUNG, paths: { ...PATHS, measured: 9 } },
      'learning',
      'info',
    ],
    [
      'young paths and a silent agent',
      { learning: YOUNG, agents: { reporting: 5, silent: 1, stopped: 0, enrolled: 0 } },
      'partial',
      'warn',
    ],
    ['young paths that no rule was evaluated on', { learning: YOUNG, evaluated_until: null }, 'unevaluated', 'warn'],
    ['a few new paths', { learning: { ...YOUNG, settling_paths: 10 } }, 'healthy', 'good'],
    ['rules evaluated one window later', { evaluated_until: '2026-11-23T10:58:00Z' }, 'healthy', 'good'],
  ])('%s', (_, changes, kind, tone) => {
    const verdict = verdictOf(meshHealth(changes))
    expect(verdict.kind).toBe(kind)
    expect(toneOf(verdict)).toBe(tone)
  })
})

test('an open incident is named first, whatever else is missing', () => {
  const incident = openIncident({ severity: 'warning' })
  const mesh = meshHealth({ open_incidents: 3, worst_incidents: [incident], paths: { ...PATHS, measured: 2 } })
  expect(verdictOf(mesh)).toEqual({ kind: 'degraded', incident, others: 2 })
  expect(toneOf(verdictOf(mesh))).toBe('warn')
})

test('a mesh whose incident costs an application comes before one with a more severe incident', () => {
  const loses = (cost: number) => [{ id: 'a', name: 'checkout', performance: 1 - cost, cost, objective: null }]
  const costly = openIncident({ severity: 'warning', applications: loses(0.84) })
  const meshes = [
    meshHealth({ id: 'severe', open_incidents: 1, worst_incidents: [openIncident()] }),
    meshHealth({ id: 'costly', open_incidents: 1, worst_incidents: [costly] }),
  ]
  expect(worstFirst(meshes).map(({ id }) => id)).toEqual(['costly', 'severe'])
})

test('meshes are sorted by concern, and keep their order within one tone', () => {
  const broken = meshHealth({ id: 'broken', open_incidents: 1, worst_incidents: [openIncident()] })
  const meshes = [
    meshHealth({ id: 'a' }),
    meshHealth({ id: 'b' }),
    meshHealth({ id: 'silent', alert_rules: 0 }),
    broken,
  ]
  expect(worstFirst(meshes).map(({ id }) => id)).toEqual(['broken', 'silent', 'a', 'b'])
})

test('while most paths are young the minutes are counted, then those until usual delays are known', () => {
  expect(verdictOf(meshHealth({ learning: YOUNG }))).toEqual({ kind: 'learning', minutes: 3, of: 5 })
  expect(minutesToBaselines(meshHealth({ learning: YOUNG }))).toBe(17)
  expect(minutesToBaselines(meshHealth({ learning: { ...YOUNG, unlearnt_paths: 15 } }))).toBeNull()
})

test.each([
  ['critical', 0, '2026-01-01T00:00:00Z', true],
  ['critical', 1, '2026-01-01T00:00:00Z', false],
  ['critical', null, '2026-01-01T00:00:00Z', false],
  ['warning', 0, '2026-01-01T00:00:00Z', true],
  ['critical', 0, '2026-01-01T00:59:30Z', false],
] as const)('a %s incident of which %s receivers were told', (severity, receivers_notified, onset_at, untold) => {
  const now = Date.parse('2026-01-01T01:00:00Z')
  expect(isUntold(openIncident({ severity, receivers_notified, onset_at }), now)).toBe(untold)
})
