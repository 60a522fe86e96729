import { expect, test } from 'vitest'
import { findNearest, findPaths, nameRank, wordsOf } from './find'

const vm = (name: string) => ({ name, detail: 'eu-west-1a' })
const VMS = ['db-2', 'db-21', 'web-2', 'web-20', 'my-web-20'].map(vm)

test.each([
  ['web-20  DB-21', ['web-20', 'db-21']],
  ['web-20 → db-21', ['web-20', 'db-21']],
  ['web-20 -> db-21 ', ['web-20', 'db-21']],
  ['  ', []],
])('the words of %j are %j', (query, words) => {
  expect(wordsOf(query)).toEqual(words)
})

test('the name itself is nearer than its start, that than the start of a part, the inside, and that than the detail', () => {
  const ranks = ['web-20', 'web', '20', 'eb', 'west'].map((word) => nameRank([word], vm('web-20')))
  expect(ranks).toEqual([0, 1, 2, 3, 4])
  expect(nameRank(['est'], vm('web-20'))).toBeUndefined()
})

test('every word has to occur', () => {
  expect(nameRank(['web', 'west'], vm('web-20'))).toBeDefined()
  expect(nameRank(['web', 'east'], vm('web-20'))).toBeUndefined()
  expect(nameRank(['add', 'a', 'vm'], { name: 'Add a VM' })).toBe(0)
})

test('the nearest come first, and no more than asked for', () => {
  const names = (word: string, limit: number) => findNearest(VMS, [word], limit).map(({ item }) => item.name)
  expect(names('web-2', 9)).toEqual(['web-2', 'web-20', 'my-web-20'])
  expect(names('web-2', 2)).toEqual(['web-2', 'web-20'])
  expect(names('no', 9)).toEqual([])
})

test.each([
  ['web-20 db-21', 'web-20 db-21'],
  ['db-21 web-20', 'db-21 web-20'],
  ['web-20 → db-21', 'web-20 db-21'],
  ['web-20 to db-21', 'web-20 db-21'],
  ['web-2 db-2', 'web-2 db-2'],
])('%j finds the path %j first', (query, path) => {
  const [first] = findPaths(VMS, wordsOf(query), 5)
  expect(`${first?.source.name} ${first?.target.name}`).toBe(path)
})

test.each(['web-20', 'web-20 web-20x', 'web-20 db-21 web-2', 'db-21 db-21'])('%j names no path', (query) => {
  expect(findPaths(VMS, wordsOf(query), 5)).toEqual([])
})
