import { expect, test } from 'vitest'
import type { Roster } from '~/api/types'
import { stalenessOf } from './staleness'

const vm = (name: string) => ({ id: name, key: 0, name, zone_id: name[0] as string, zone_name: name[0] as string })
const ROSTER = {
  revision: 1,
  vms: ['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2'].map(vm),
  zones: ['a', 'b', 'c'].map((name, at) => ({ id: name, name, first: 2 * at, count: 2 })),
} as unknown as Roster

/** Rows of looks: `.` not planned, `-` no data yet, `s` stale, `x` lost, `m` measured, `o` no service. */
const LOOKS: Record<string, number> = { '.': 1, '-': 2, s: 3, x: 4, m: 0, o: 8 }
const matrixOf = (rows: string[]) => ({
  rows: rows.length,
  states: Uint8Array.from(rows.join('').split(''), (look) => LOOKS[look] as number),
})

test.each([
  ['all', ['.sssss', 's.ssss', 'ss.sss', 'sss.ss', 'ssss.s', 'sssss.'], 30, 30, 0, 'a b c', ''],
  ['none', ['.mmmmm', 'm.mmmm', 'mm.mmm', 'mmm.mm', 'mmmm.m', 'mmmmm.'], 30, 0, 30, '', ''],
  ['a zone', ['.mssmm', 'm.ssmm', 'ss.sss', 'sss.ss', 'mmss.m', 'mmssm.'], 30, 18, 12, 'b', ''],
  ['a zone pair', ['.mssmm', 'm.ssmm', 'mm.mmm', 'mmm.mm', 'mmmm.m', 'mmmmm.'], 30, 4, 26, '', 'a b'],
  ['an agent', ['.mmmms', 'm.mmms', 'mm.mms', 'mmm.ms', 'mmmm.s', 'sssss.'], 30, 10, 20, '', ''],
  ['a lost one', ['.ssssx', 's.ssss', 'ss.sss', 'sss.ss', 'ssss.s', 'sssss.'], 30, 29, 1, 'b', 'c a'],
  ['never any', ['.-----', '-.----', '--.---', '---.--', '----.-', '-----.'], 30, 0, 0, '', ''],
  ['unplanned and unserved', ['......', '......', '...s..', '..s...', '....oo', '....oo'], 2, 2, 0, 'b', ''],
])('stale: %s', (_, rows, paths, stale, recent, zones, pairs) => {
  const found = stalenessOf(matrixOf(rows), ROSTER, 'vm')
  expect([found.paths, found.stale, found.recent]).toEqual([paths, stale, recent])
  expect(found.zones.join(' ')).toBe(zones)
  const named = found.pairs.map(({ from, to }) => `${from} ${to}`).join(',')
  expect(named).toBe(pairs)
})

test('zone by zone, a row is a zone', () => {
  const found = stalenessOf(matrixOf(['mms', 'mmm', 'mmm']), ROSTER, 'zone')
  expect(found).toMatchObject({ paths: 9, stale: 1, recent: 8, zones: [], pairs: [{ from: 'a', to: 'c' }] })
})
