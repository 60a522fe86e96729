import { expect, test } from 'vitest'
import { LOOK } from '~/charts/heatmap/grid'
import { rosterOf } from '~/testing/roster'
import { wholePart } from './axes'
import { marksOf, namedOf, summaryOf } from './selection'

const ROSTER = rosterOf(['web-1', 'db-1', 'db-2', 'web-2'], 'aabb')
const VMS = namedOf(ROSTER, 'vm')

test('rows and columns are marked by a part of the name, in either case, and when selected', () => {
  const part = wholePart(ROSTER, 'vm')
  expect([...(marksOf(part, VMS, 'DB-', undefined)?.row ?? [])]).toEqual([1, 2])
  expect([...(marksOf(part, VMS, 'db-2', 'web-1')?.column ?? [])]).toEqual([0, 2])
  expect(marksOf(part, VMS, undefined, undefined)).toBeUndefined()
})

test('a collapsed zone is marked for its VMs', () => {
  const part = wholePart(ROSTER, 'vm', undefined, (id) => id === 'b')
  expect([...(marksOf(part, VMS, 'web-2', undefined)?.row ?? [])]).toEqual([2])
})

/** Changes in ns around 32,768; web-1 to db-2 is lost. */
const MATRIX = {
  ...{ rows: 4, columns: 4, revision: 1, windowEnd: null },
  codes: Uint16Array.from([0, 32_768, 0, 32_808, 32_758, 0, 32_768, 32_768, 32_788, 1, 0, 1, 32_768, 1, 1, 0]),
  states: Uint8Array.from([1, 0, LOOK.crossed, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
}
const FURTHEST = { kind: 'furthest', middle: 32_768 } as const
const summary = (side: 'row' | 'column') => summaryOf(MATRIX, VMS, 0, side, 'deviation', FURTHEST)

test('a row in short: its median, what is lost, and the worst first', () => {
  const { median, measured, lost, worst } = summary('row')
  expect([median, measured, lost]).toEqual([0, 2, 1])
  expect(worst.map(({ name, value }) => [name, value])).toEqual([
    ['db-2', null],
    ['web-2', 40],
  ])
})

test('estimates are no measurements: a summary leaves them out', () => {
  const states = MATRIX.states.map((state, at) => (at === 3 ? LOOK.barred : state))
  const { measured, worst } = summaryOf({ ...MATRIX, states }, VMS, 0, 'row', 'deviation', FURTHEST)
  expect([measured, worst.map(({ name }) => name)]).toEqual([1, ['db-2']])
})

test('a column in short: a faster path counts as changed, one as usual does not', () => {
  const { median, measured, lost, worst } = summary('column')
  expect([median, measured, lost]).toEqual([0, 3, 0])
  expect(worst.map(({ name, value }) => [name, value])).toEqual([
    ['db-2', 20],
    ['db-1', -10],
  ])
})
