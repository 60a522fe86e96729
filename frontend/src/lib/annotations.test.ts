import { expect, test } from 'vitest'
import { annotationMark, annotationsById } from './annotations'

const ROSTER = {
  vms: [
    { id: 'a-1', zone_id: 'a' },
    { id: 'a-2', zone_id: 'a' },
    { id: 'b-1', zone_id: 'b' },
  ],
}
const about = (scope: Partial<{ vm_ids: string[]; zone_ids: string[]; task_vm_ids: string[] }>) => ({
  scope: { vm_ids: [], zone_ids: [], task_vm_ids: [], ...scope },
})
const ids = (annotation: Parameters<typeof annotationsById>[0][number]) =>
  [...annotationsById([annotation], ROSTER).keys()].sort()

test.each([
  ['a VM', about({ vm_ids: ['a-2'] }), ['a', 'a-2']],
  ['a zone', about({ zone_ids: ['a'] }), ['a', 'a-1', 'a-2']],
  ['an application', about({ task_vm_ids: ['a-1', 'b-1'] }), ['a', 'a-1', 'b', 'b-1']],
  ['a VM of another mesh', about({ vm_ids: ['x'] }), []],
  ['all VMs', { scope: null }, []],
])('an annotation about %s marks its VMs and zones', (_, annotation, marked) => {
  expect(ids(annotation)).toEqual(marked)
})

test('a VM under two annotations has both', () => {
  const [one, two] = [about({ vm_ids: ['b-1'] }), about({ zone_ids: ['b'] })]
  expect(annotationsById([one, two], ROSTER).get('b-1')).toEqual([one, two])
})

test('a mark has its times in seconds; an event has no end', () => {
  const event = { id: 'd', kind: 'deploy' as const, text: 'web 4.2', url: null, starts_at: '1970-01-01T00:01:00Z' }
  expect(annotationMark({ ...event, ends_at: null })).toMatchObject({ label: 'Deploy: web 4.2', from: 60, to: null })
  expect(annotationMark({ ...event, ends_at: '1970-01-01T00:02:00Z' }).to).toBe(120)
})
