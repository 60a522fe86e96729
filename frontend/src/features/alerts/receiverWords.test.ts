import { expect, test } from 'vitest'
import type { Route } from '~/api/receivers'
import { atRoot, hears } from './receiverWords'

const leaf = { matchers: [], routes: [], repeat_s: null, resolved: null, continue_: false }
const TREE: Route = {
  ...leaf,
  receivers: ['mail'],
  routes: [{ ...leaf, receivers: ['pager'], matchers: [{ label: 'severity', value: 'critical', negate: false }] }],
}

test('what a receiver hears is said by where the tree names it', () => {
  expect(hears(TREE, 'mail')).toBe('Incidents without a matching route')
  expect(hears(TREE, 'pager')).toBe('Incidents its routes match')
  expect(hears(TREE, 'chat')).toBe('Nothing')
  expect(hears({ ...TREE, routes: [] }, 'mail')).toBe('Every incident')
})

test('naming a receiver at the root leaves branches and others as they are, and can be undone', () => {
  const told = atRoot(TREE, 'chat', true)
  expect(told.receivers).toEqual(['mail', 'chat'])
  expect(told.routes).toEqual(TREE.routes)
  expect(atRoot(told, 'chat', true).receivers).toEqual(['mail', 'chat'])
  expect(atRoot(told, 'chat', false)).toEqual(TREE)
})
