import { expect, test } from 'vitest'
import type { Route } from '~/api/receivers'
import { recordedItem } from '~/testing/recorded'
import { atRoot, receivedHeartbeats, receivedIncidents } from './receiverWords'

const leaf = { matchers: [], routes: [], repeat_s: null, resolved: null, hold_s: null, continue_: false }
const TREE: Route = {
  ...leaf,
  receivers: ['mail'],
  routes: [{ ...leaf, receivers: ['pager'], matchers: [{ label: 'severity', value: 'critical', negate: false }] }],
}

test('the incidents of a receiver follow from its place in the routing tree', () => {
  expect(receivedIncidents(TREE, 'mail')).toBe('Incidents without a matching route')
  expect(receivedIncidents(TREE, 'pager')).toBe('Incidents its routes match')
  expect(receivedIncidents(TREE, 'chat')).toBe('Nothing')
  expect(receivedIncidents({ ...TREE, routes: [] }, 'mail')).toBe('Every incident')
})

test('naming a receiver at the root leaves branches and others as they are, and can be undone', () => {
  const tree = atRoot(TREE, 'chat', true)
  expect(tree.receivers).toEqual(['mail', 'chat'])
  expect(tree.routes).toEqual(TREE.routes)
  expect(atRoot(tree, 'chat', true).receivers).toEqual(['mail', 'chat'])
  expect(atRoot(tree, 'chat', false)).toEqual(TREE)
})

test('a heartbeat shows its newest call and the result', () => {
  const receiver = recordedItem('/v1/receivers', { kind: 'heartbeat', settings: {} })
  const now = Date.parse('2026-11-20T10:00:40Z')
  expect(receivedHeartbeats({ ...receiver, heartbeat_at: null, heartbeat_answer: null }, now)).toMatch(/none sent yet$/)
  const sent = { ...receiver, heartbeat_at: '2026-11-20T10:00:00Z', heartbeat_answer: 'HTTP status 200' }
  expect(receivedHeartbeats(sent, now)).toMatch(/last 40.s ago: HTTP status 200$/)
})
