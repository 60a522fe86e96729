import { expect, test } from 'vitest'
import type { Roster, Zone } from '~/api/types'
import { rearrange } from '~/charts/heatmap/grid'
import { rosterOf } from '~/testing/roster'
import { type Part, wholePart, zonePairPart, zonesUnder } from './axes'
import { placesOf } from './useMatrix'

const VMS = ['a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1']
const SIX = rosterOf(VMS)
const ROSTER = { ...SIX, zones: [...SIX.zones, { id: 'd', name: 'zone d', first: 6, count: 0 }] } as Roster
const zone = (id: string, region: string, provider = 'aws') => ({ id, region, provider }) as Zone
/** Return the cells of a part of a matrix of six VMs in which each value is its place. */
function cells({ rows, columns }: Part): number[] {
  const codes = Uint16Array.from({ length: 36 }, (_, place) => place)
  const grid = { rows: 6, columns: 6, codes, looks: new Uint8Array(36) }
  return [...rearrange(grid, placesOf(rows, 6), placesOf(columns, 6), { kind: 'highest' }).codes]
}

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

const names = (part: Part) => part.axes.rows.groups.map((level) => level.map(({ name }) => name))
const REGIONS = [zone('a', 'eu'), zone('b', 'eu'), zone('c', 'us'), zone('d', 'us')]

test('zones are grouped by region when there are several regions', () => {
  const [outer, inner] = wholePart(ROSTER, 'vm', REGIONS).axes.rows.groups
  expect(outer?.map(({ name, first, count }) => [name, first, count])).toEqual([
    ['eu', 0, 5],
    ['us', 5, 1],
  ])
  expect(outer?.[0]?.title).toBe('aws ▸ eu, 5 VMs')
  expect(inner?.map(({ title }) => title)).toEqual([
    'aws ▸ eu ▸ zone a, 2 VMs',
    'aws ▸ eu ▸ zone b, 3 VMs',
    'aws ▸ us ▸ zone c, 1 VM',
  ])
  expect(names(wholePart(ROSTER, 'zone', REGIONS))).toEqual([['eu', 'us']])
})

test('zones of one region stand together, however they are called, and keep their values', () => {
  const part = wholePart(ROSTER, 'vm', [zone('a', 'us'), zone('b', 'eu'), zone('c', 'us'), zone('d', 'eu')])
  expect(names(part)).toEqual([
    ['eu', 'us'],
    ['zone b', 'zone a', 'zone c'],
  ])
  expect(part.rows.map(({ name }) => name)).toEqual(['b-1', 'b-2', 'b-3', 'a-1', 'a-2', 'c-1'])
  // The first row is b-1, the third VM of the matrix.
  expect(cells(part).slice(0, 6)).toEqual([14, 15, 16, 12, 13, 17])
})

test('several providers are a level, which distinguishes regions of one name', () => {
  const zones = [zone('a', 'west'), zone('b', 'west', 'gcp'), zone('c', 'east', 'gcp'), zone('d', 'west')]
  expect(names(wholePart(ROSTER, 'vm', zones))).toEqual([
    ['aws', 'gcp'],
    ['aws west', 'east', 'gcp west'],
    ['zone a', 'zone c', 'zone b'],
  ])
})

test('one region, or regions not known yet, are no heading', () => {
  const inner = [['zone a', 'zone b', 'zone c']]
  expect(names(wholePart(ROSTER, 'vm'))).toEqual(inner)
  const one = ['a', 'b', 'c', 'd'].map((id) => zone(id, 'eu'))
  expect(names(wholePart(ROSTER, 'vm', one))).toEqual(inner)
})

test('a heading stands for its zones', () => {
  const part = wholePart(ROSTER, 'vm', REGIONS, (id) => id === 'b')
  const outer = part.axes.rows.groups[0]?.[0]?.id ?? ''
  expect(zonesUnder(part, outer)).toEqual(['a', 'b'])
  expect(zonesUnder(part, 'b')).toEqual(['b'])
  expect(zonesUnder(part, 'unknown')).toEqual([])
})

test('VMs of one name are distinguished by their zones', () => {
  const twins = { ...ROSTER, vms: ROSTER.vms.map((vm, at) => (at === 2 ? { ...vm, name: 'a-1' } : vm)) }
  const { labels } = wholePart(twins, 'vm').axes.rows
  expect(labels.slice(0, 3)).toEqual(['a-1 (zone a)', 'a-2', 'a-1 (zone b)'])
})
