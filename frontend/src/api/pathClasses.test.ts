import { expect, test } from 'vitest'
import { pairsOfClass } from './pathClasses'
import type { Zone } from './types'

const zone = (id: string, region: string, provider = 'aws') => ({ id, region, provider }) as Zone

const ZONES = [zone('a', 'eu'), zone('b', 'eu'), zone('c', 'us'), zone('d', 'us'), zone('g', 'us', 'gcp')]
const [A, B] = ZONES as [Zone, Zone]

test('a zone pair leads, and pairs of its provider and class follow', () => {
  expect(pairsOfClass(ZONES, B, A)).toEqual([
    ['b', 'a'],
    ['a', 'b'],
    ['c', 'd'],
    ['d', 'c'],
  ])
  expect(pairsOfClass(ZONES, A, A).map(([from]) => from)).toEqual(['a', 'b', 'c', 'd'])
})

test('of many pairs only some are read', () => {
  const many = Array.from({ length: 20 }, (_, n) => zone(`z${n}`, 'eu'))
  expect(pairsOfClass(many, many[7] as Zone, many[8] as Zone)).toHaveLength(6)
})
