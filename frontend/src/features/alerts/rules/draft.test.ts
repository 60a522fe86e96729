import { expect, test } from 'vitest'
import type { Rule } from '~/api/rules'
import { draftOf, draftOfShares, inputOf, NEW_RULE } from './draft'
import { conditionWords, scopeWords } from './ruleWords'

const ORIGIN = { id: 'r', mesh_id: 'm', origin: null, version: 1, created_at: '', updated_at: '' }
const asRead = (input: ReturnType<typeof inputOf>) => ({ ...ORIGIN, ...input }) as Rule

test('delays are typed in µs and go as ns', () => {
  const { condition } = inputOf({ ...NEW_RULE, kind: 'threshold', above: '1500.5' })
  expect(condition).toMatchObject({ above: 1_500_500, rise_ns: 0 })
  expect(conditionWords(condition)).toBe('One-way delay, p50 above 1.50 ms')
})

test('loss is typed in percent and goes as a ratio', () => {
  const { condition } = inputOf({ ...NEW_RULE, kind: 'threshold', metric: 'loss', above: '15' })
  expect(condition.above).toBe(0.15)
  expect(conditionWords(condition)).toBe('Loss above 15.0 %')
})

test('loss over a longer time is typed in percent and minutes', () => {
  const { condition } = inputOf({ ...NEW_RULE, kind: 'loss', above: '0.2', overMin: '30' })
  expect(condition).toMatchObject({ metric: 'loss', above: 0.002, over_s: 1_800 })
  expect(conditionWords(condition)).toBe('Loss above 0.200 % over 30 min')
})

test('fields of other kinds of conditions keep their defaults', () => {
  const draft = { ...NEW_RULE, metric: 'loss', statistic: 'p99', above: '7', rise: '9', deviations: '3' } as const
  expect(inputOf({ ...draft, kind: 'silent' }).condition).toEqual({
    kind: 'silent',
    metric: 'one_way_delay',
    statistic: 'p50',
    above: 0,
    deviations: 6,
    rise_ns: 0,
    timescale: 'short',
    over_s: 0,
    within_s: 0,
    among: 'flows',
    below: 0,
  })
  // Whatever metric the form had before: a spike is a spike of delay.
  expect(inputOf({ ...draft, kind: 'spike', rise: '500' }).condition.rise_ns).toBe(500_000)
})

test.each(['threshold', 'baseline', 'loss', 'spike', 'silent', 'performance', 'tokens', 'fairness'] as const)(
  'a rule of kind %s survives the form',
  (kind) => {
    const input = inputOf({
      ...NEW_RULE,
      name: 'Slow',
      kind,
      above: '12.5',
      zonePair: ['a', 'b'],
      vms: ['one'],
      labels: 'role=db, tier=x=1',
      application: 'cache',
      runbookUrl: 'https://example.com/r',
    })
    expect(inputOf(draftOf(asRead(input)))).toEqual(input)
    const burns = inputOf({ ...NEW_RULE, kind, above: '14.4', recursMin: '60' })
    expect(inputOf(draftOf(asRead(burns)))).toEqual(burns)
    expect(input.scope?.labels).toEqual({ role: 'db', tier: 'x=1' })
  },
)

test('a limit of fairness has the members that it is about', () => {
  const { condition } = inputOf({ ...NEW_RULE, kind: 'fairness', among: 'vms', below: '0.9' })
  expect(condition).toMatchObject({ among: 'vms', below: 0.9, within_s: 0 })
  expect(conditionWords(condition)).toBe('Fairness index of the VMs below 0.9')
})

test('a rule about shares begins with its members, and of flows with their path', () => {
  expect(inputOf(draftOfShares('flows', ['a', 'b']))).toMatchObject({
    name: 'Uneven shares of flows',
    condition: { kind: 'fairness', among: 'flows', below: 0.883 },
    scope: { path: ['a', 'b'] },
    windows_x: 3,
    windows_y: 3,
  })
})

test('the text of a scope names all its parts, and an empty scope is all paths', () => {
  expect(scopeWords({})).toBe('all\u00a0paths')
  expect(scopeWords({}, 'silent')).toBe('all\u00a0agents')
  expect(scopeWords({}, 'performance')).toBe('all\u00a0applications')
  expect(scopeWords({}, 'tokens')).toBe('all\u00a0token buckets')
  expect(scopeWords({ zone_pair: ['a', 'b'], labels: { role: 'db' } })).toBe('between a and b; role=db')
})
