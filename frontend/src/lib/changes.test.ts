import { expect, test } from 'vitest'
import { changeWords, parseChanges, placesAfter } from './changes'

const tasks = [
  { application: 'cache', task: 'server', vm: 'a-1' },
  { application: 'cache', task: 'client', vm: 'b-1' },
]
const zones = new Map([
  ['a-1', 'a'],
  ['b-1', 'b'],
])

test('places follow changes in the order they happen', () => {
  const move = { kind: 'task', application: 'cache', task: 'client', vm: 'a-1' } as const
  const drop = { kind: 'drop_zone', zone: 'a' } as const
  expect(placesAfter(tasks, [move], zones).get('cache client')).toBe('a-1')
  expect(placesAfter(tasks, [move, drop], zones).get('cache client')).toBeNull()
  expect(placesAfter(tasks, [drop, move], zones).get('cache client')).toBe('a-1')
  // A VM goes with the zone that it was created in.
  const created = { kind: 'vm', vm: 'b-1', zone: 'a' } as const
  expect([...placesAfter(tasks, [created, drop], zones).values()]).toEqual([null, null])
})

test('changes of an address are kept, what is none is dropped', () => {
  const drop = { kind: 'drop_zone', zone: 'b' }
  expect(parseChanges([drop, { kind: 'drop_zone' }, { kind: 'flood' }, null, 3])).toEqual([drop])
  expect(parseChanges([{ kind: 'latency', zones: ['a'], added_us: 1 }])).toBeUndefined()
  expect(parseChanges('[]')).toBeUndefined()
})

test('latency has its sign', () => {
  expect(changeWords({ kind: 'latency', zones: ['a', 'b'], added_us: 200 })).toBe('a and b: +200 µs')
  expect(changeWords({ kind: 'latency', zones: ['a', 'b'], added_us: -30 })).toBe('a and b: −30 µs')
})
