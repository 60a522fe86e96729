import { expect, test } from 'vitest'
import type { Route } from '~/api/receivers'
import { added, branches, NEW_BRANCH, raised, removed, replaced, takes, terms } from './routeTree'

const named = (name: string, routes: Route[] = []): Route => ({ ...NEW_BRANCH, receivers: [name], routes })
const ROOT = named('root', [named('a', [named('a0'), named('a1')]), named('b')])
const names = (root: Route) => branches(root).map(({ route, place }) => `${place.join('.')} ${route.receivers?.[0]}`)

test('branches come before their children', () => {
  expect(names(ROOT)).toEqual(['0 a', '0.0 a0', '0.1 a1', '1 b'])
})

test('a branch is replaced, removed, raised and added at its place, and nothing else changes', () => {
  expect(names(replaced(ROOT, [0, 1], named('new')))).toEqual(['0 a', '0.0 a0', '0.1 new', '1 b'])
  expect(names(removed(ROOT, [0]))).toEqual(['0 b'])
  expect(names(raised(ROOT, [1]))).toEqual(['0 b', '1 a', '1.0 a0', '1.1 a1'])
  expect(names(raised(ROOT, [0, 1]))).toEqual(['0 a', '0.0 a1', '0.1 a0', '1 b'])
  expect(raised(ROOT, [0])).toEqual(ROOT)
  expect(names(added(ROOT, [], named('c')))).toEqual([...names(ROOT), '2 c'])
  expect(names(added(ROOT, [0, 0], named('deep')))).toEqual(['0 a', '0.0 a0', '0.0.0 deep', '0.1 a1', '1 b'])
  expect(names(ROOT)).toEqual(['0 a', '0.0 a0', '0.1 a1', '1 b'])
})

test('the text of a branch has matchers and options', () => {
  expect(takes(NEW_BRANCH)).toBe('severity is critical')
  expect(takes({ ...NEW_BRANCH, matchers: [] })).toBe('All incidents')
  expect(terms(NEW_BRANCH)).toBe('')
  expect(terms({ ...NEW_BRANCH, hold_s: 0 })).toBe('notices not grouped')
  expect(terms({ ...NEW_BRANCH, hold_s: 14400 })).toBe('notices grouped for at most 4 h')
  expect(terms({ ...NEW_BRANCH, hold_s: 7200 })).toBe('notices grouped for at most 7200 s')
  expect(terms({ ...NEW_BRANCH, repeat_s: 3600, resolved: false, continue_: true })).toBe(
    'repeats every hour; no notification when resolved; continues with the next route',
  )
})
