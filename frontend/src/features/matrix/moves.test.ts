import { expect, test } from 'vitest'
import type { Application, Move } from '~/api/types'
import { rosterOf } from '~/testing/roster'
import { wholePart, zonePairPart } from './axes'
import { arrowsOf, cellsOf, legsOf, linksOf, placeIn, placesAfter } from './moves'

const VMS = ['a-1', 'a-2', 'b-1', 'b-2', 'c-1']
const ROSTER = rosterOf(VMS)

/** "web-1: a-1 → b-1 via c-1", of the application shop, which is at 20 % before and at 90 % after it. */
function moveOf(text: string, group = 0): Move {
  const [, task, from, to, via] = /^(\S+): (\S+) → (\S+?)(?: via (\S+))?$/.exec(text) ?? []
  const named = (name: string) => ({ id: name, name })
  return {
    group,
    application: named('shop'),
    task: named(task as string),
    source: from === '–' ? null : named(from as string),
    target: named(to as string),
    via: via === undefined ? null : named(via),
    gain: { before: { mean: 0.2 }, after: { mean: 0.9 } },
  } as unknown as Move
}

const APPLICATION = {
  shape: 'star',
  tasks: ['db', 'web-1', 'web-2', 'web-3'].map((name, at) => ({
    id: name,
    name,
    root: at === 0,
    vm: { id: VMS[at], name: VMS[at] },
  })),
  edges: [],
} as unknown as Application

const written = (moves: Move[]) => legsOf(moves).map(({ move, from, to }) => `${move.task.name} ${from?.id} ${to.id}`)

test('a move is a leg, and one through another VM is two: the second when its group has made room', () => {
  const moves = [
    moveOf('web-1: a-1 → b-1 via c-1'),
    moveOf('web-2: b-1 → a-1'),
    moveOf('web-3: a-2 → b-2', 1),
    moveOf('web-4: – → c-1', 2),
  ]
  expect(written(moves)).toEqual([
    'web-1 a-1 c-1',
    'web-2 b-1 a-1',
    'web-1 c-1 b-1',
    'web-3 a-2 b-2',
    'web-4 undefined c-1',
  ])
  expect(legsOf(moves).map(({ key }) => key)).toEqual(['1', '2', '3', '4', '5'])
})

test('a move by way of another VM gains nothing until it has arrived', () => {
  const [first, , second] = legsOf([moveOf('web-1: a-1 → b-1 via c-1'), moveOf('web-2: b-1 → a-1')])
  expect(first?.lost).toEqual([0.8, 0.8])
  expect(second?.lost[1]).toBeCloseTo(0.1)
})

test.each([
  [0, 'a-2'],
  [1, 'c-1'],
  [2, 'c-1'],
  [3, 'b-1'],
])('after %i legs the task is on %s', (made, vm) => {
  const legs = legsOf([moveOf('web-1: a-2 → b-1 via c-1'), moveOf('web-2: b-1 → a-2')])
  expect(placesAfter(legs, made).get('web-1')).toBe(vm)
})

test('the links of moved tasks follow them, and a task on the VM of its root has none', () => {
  const legs = legsOf([moveOf('web-1: a-2 → c-1'), moveOf('web-2: b-1 → a-1')])
  expect(linksOf([APPLICATION], placesAfter(legs, 0))).toEqual([
    ['a-1', 'a-2'],
    ['a-1', 'b-1'],
  ])
  expect(linksOf([APPLICATION], placesAfter(legs, 2))).toEqual([['a-1', 'c-1']])
})

test('of a graph only the edges of moved tasks count', () => {
  const graph = {
    ...APPLICATION,
    shape: 'graph',
    edges: [
      { source: 'web-1', target: 'web-2' },
      { source: 'db', target: 'web-3' },
    ],
  } as unknown as Application
  const legs = legsOf([moveOf('web-1: a-2 → c-1')])
  expect(linksOf([graph], placesAfter(legs, 1))).toEqual([['c-1', 'b-1']])
})

const LEGS = legsOf([moveOf('web-1: a-2 → b-1'), moveOf('web-2: a-1 → b-2', 1), moveOf('web-3: b-1 → b-2', 2)])

test('by zone, moves between the same zones are one arrow, made when all of them are', () => {
  const placeOf = placeIn(wholePart(ROSTER, 'zone'), ROSTER, 'zone')
  const arrows = (made: number) =>
    arrowsOf(LEGS, made, placeOf).map(({ label, from, to, isMade }) => [label, from?.row, to.row, isMade])
  expect(arrows(1)).toEqual([
    ['1, 2', 0, 1, false],
    ['3', 1, 1, false],
  ])
  expect(arrows(2)[0]).toEqual(['1, 2', 0, 1, true])
})

test('a closed zone stands for its VMs', () => {
  const part = wholePart(ROSTER, 'vm', undefined, (zone) => zone === 'b')
  expect(arrowsOf(LEGS, 3, placeIn(part, ROSTER, 'vm')).map(({ from, to }) => [from?.row, to.row])).toEqual([
    [1, 2],
    [0, 2],
    [2, 2],
  ])
})

test('in a zone pair a VM has a row or a column; one that has left the mesh has neither', () => {
  const part = zonePairPart(ROSTER, ['a', 'b'])
  if (!part) throw new Error('The zones have VMs.')
  const placeOf = placeIn(part, ROSTER, 'vm')
  expect(arrowsOf(LEGS.slice(0, 1), 1, placeOf)[0]).toMatchObject({
    from: { row: 1, column: null },
    to: { row: null, column: 0 },
  })
  expect(placeOf('gone')).toEqual({ row: null, column: null })
})

test('both directions of a link are outlined, where its VMs are shown', () => {
  const placeOf = placeIn(wholePart(ROSTER, 'vm'), ROSTER, 'vm')
  const links: [string, string][] = [
    ['a-1', 'c-1'],
    ['a-1', 'gone'],
  ]
  expect(cellsOf(links, placeOf)).toEqual([
    { row: 0, column: 4 },
    { row: 4, column: 0 },
  ])
})
