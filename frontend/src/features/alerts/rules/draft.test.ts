import { expect, test } from 'vitest'
import { recordedItem } from '~/testing/recorded'
import { draftOf, draftOfShares, inputOf, NEW_RULE } from './draft'
import { conditionWords, scopeWords } from './ruleWords'

const asRead = (input: ReturnType<typeof inputOf>) => recordedItem('/v1/alert-rules', input)

test.each([
  [{ kind: 'threshold', above: '1500.5' }, { above: 1_500_500, rise_ns: 0 }, 'One-way delay, p50 above 1.50 ms'],
  [{ kind: 'threshold', metric: 'loss', above: '15' }, { above: 0.15 }, 'Loss above 15.0 %'],
  [
    { kind: 'loss', above: '0.2', overMin: '30' },
    { metric: 'loss', above: 0.002, over_s: 1_800 },
    'Loss above 0.200 % over 30 min',
  ],
  [
    { kind: 'fairness', among: 'vms', below: '0.9' },
    { among: 'vms', below: 0.9, within_s: 0 },
    'Fairness index of the VMs below 0.9',
  ],
] as const)('%j is typed in µs, percent and minutes, and goes as ns, ratio and seconds', (typed, sent, words) => {
  const { condition } = inputOf({ ...NEW_RULE, ...typed })
  expect(condition).toMatchObject(sent)
  expect(conditionWords(condition)).toBe(words)
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
