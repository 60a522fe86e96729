import { expect, test } from 'vitest'
import type { Vm, Zone } from '~/api/types'
import { rosterOf } from '~/testing/roster'
import { wholePart, zonePairPart } from './axes'
import { onlyMatches } from './matches'
import { isMatch, namedOf } from './selection'

const ROSTER = rosterOf(['web-1', 'db-1', 'db-2', 'web-2'], 'aabb')
const ZONES = [
  { id: 'a', region: 'eu-west', provider: 'aws' },
  { id: 'b', region: 'us-east', provider: 'aws' },
] as Zone[]
const LABELLED = [{ id: 'db-2', labels: { team: 'Payments' } }] as unknown as Vm[]
const VMS = namedOf(ROSTER, 'vm', ZONES, LABELLED)

const found = (text: string) => VMS.filter((vm) => isMatch(vm, text)).map(({ name }) => name)

test.each([
  ['DB-', ['db-1', 'db-2']],
  ['zone a', ['web-1', 'db-1']],
  ['us-east', ['db-2', 'web-2']],
  ['payments', ['db-2']],
  ['team=pay', ['db-2']],
  ['nothing', []],
])('"%s" matches by name, zone, region or label', (text, names) => {
  expect(found(text)).toEqual(names)
})

const rows = ({ part }: ReturnType<typeof onlyMatches>) => part.rows.map(({ name }) => name)

test('a closed zone stays when one of its VMs matches, and counts all of them', () => {
  const matches = onlyMatches(
    wholePart(ROSTER, 'vm', ZONES, (id) => id === 'b'),
    VMS,
    'db-2',
  )
  expect([rows(matches), matches.shown, matches.of]).toEqual([['zone b'], 2, 4])
})

test('of a zone pair the side without a match keeps its VMs', () => {
  const pair = zonePairPart(ROSTER, ['a', 'b'])
  const matches = pair && onlyMatches(pair, VMS, 'web-1')
  expect(matches && rows(matches)).toEqual(['web-1'])
  expect(matches?.part.columns.map(({ name }) => name)).toEqual(['db-2', 'web-2'])
  expect([matches?.shown, matches?.of]).toEqual([3, 4])
})

test('without any match all is shown', () => {
  const whole = wholePart(ROSTER, 'vm', ZONES)
  expect(onlyMatches(whole, VMS, 'nothing')).toEqual({ part: whole, shown: 4, of: 4, isFound: false })
  expect(onlyMatches(whole, VMS, 'zone')).toEqual({ part: whole, shown: 4, of: 4, isFound: true })
})
