import { expect, test } from 'vitest'
import type { Roster, Zone } from '~/api/types'
import { cut, wholePart, zonePairPart } from './axes'

const VMS = ['a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1']
const ROSTER = {
  revision: 7,
  vms: VMS.map((name, key) => ({ id: name, key, name, zone_id: name[0], zone_name: `zone ${name[0]}` })),
  zones: [
    { id: 'a', name: 'zone a', first: 0, count: 2 },
    { id: 'b', name: 'zone b', first: 2, count: 3 },
    { id: 'c', name: 'zone c', first: 5, count: 1 },
    { id: 'd', name: 'zone d', first: 6, count: 0 },
  ],
} as Roster
const zone = (id: string, region: string, provider = 'aws') => ({ id, region, provider }) as Zone
/** Each value of a matrix of six VMs is its place. */
const PLACES = Uint16Array.from({ length: 36 }, (_, place) => place)

test('a zone pair has the VMs of one zone as rows, those of the other as columns, and only their values', () => {
  const part = zonePairPart(ROSTER, ['a', 'b'])
  expect(part?.rows.map(({ name }) => name)).toEqual(['a-1', 'a-2'])
  expect(part?.columns.map(({ name }) => name)).toEqual(['b-1', 'b-2', 'b-3'])
  expect(part?.axes.rows.groups).toEqual([[{ name: 'zone a', first: 0, count: 2 }]])
  expect(part?.within && [...cut(PLACES, 6, part.within)]).toEqual([2, 3, 4, 8, 9, 10])
})

test('an index of one part is not one of another: not of the other direction either', () => {
  const keys = [
    zonePairPart(ROSTER, ['a', 'b']),
    zonePairPart(ROSTER, ['b', 'a']),
    wholePart(ROSTER, 'vm'),
    wholePart(ROSTER, 'zone'),
  ].map((part) => part?.key)
  expect(new Set(keys).size).toBe(4)
})

test.each([
  ['a', 'd'],
  ['unknown', 'a'],
] as const)('there is no part from %s to %s: no VM is in one of them', (from, to) => {
  expect(zonePairPart(ROSTER, [from, to])).toBeUndefined()
})

test('zones are grouped by region when there are several regions', () => {
  const regions = [zone('a', 'eu'), zone('b', 'eu'), zone('c', 'us'), zone('d', 'us')]
  const [outer, inner] = wholePart(ROSTER, 'vm', regions).axes.rows.groups
  expect(outer).toEqual([
    { name: 'eu', first: 0, count: 5 },
    { name: 'us', first: 5, count: 1 },
  ])
  expect(inner?.map(({ name }) => name)).toEqual(['zone a', 'zone b', 'zone c'])
  expect(wholePart(ROSTER, 'zone', regions).axes.rows.groups).toEqual([
    [
      { name: 'eu', first: 0, count: 2 },
      { name: 'us', first: 2, count: 2 },
    ],
  ])
})

test('a region is named with its provider when there are several providers', () => {
  const regions = [zone('a', 'west'), zone('b', 'west', 'gcp'), zone('c', 'west', 'gcp'), zone('d', 'west')]
  expect(wholePart(ROSTER, 'vm', regions).axes.rows.groups[0]?.map(({ name }) => name)).toEqual([
    'aws west',
    'gcp west',
  ])
})

test('one region, or regions not known yet, are no heading', () => {
  const inner = [['zone a', 'zone b', 'zone c']]
  const names = (zones?: Zone[]) =>
    wholePart(ROSTER, 'vm', zones).axes.rows.groups.map((level) => level.map(({ name }) => name))
  expect(names()).toEqual(inner)
  expect(names(['a', 'b', 'c', 'd'].map((id) => zone(id, 'eu')))).toEqual(inner)
})
