import { expect, test } from 'vitest'
import { currentPlace, placeGroups } from './places'

const all = () => true

test.each([
  ['/', 'Overview'],
  ['/meshes/$meshId/', 'Heatmap'],
  ['/meshes/$meshId/paths/$source/$target', 'Paths'],
  ['/meshes/$meshId/explore', 'Paths'],
  ['/meshes/$meshId/settings', 'Inventory', 'Meshes'],
  ['/meshes/', 'Inventory', 'Meshes'],
  ['/curves/$curveId/measure', 'Applications', 'Curves'],
  ['/curves/learning', 'Lab', 'Learning in production'],
  ['/vms/$vmId', 'Inventory', 'VMs'],
  ['/onboarding', 'Inventory', 'VMs'],
  ['/alert-rules/new', 'Alerts', 'Rules'],
  ['/advisors/fairness', 'Lab', 'Fairness'],
  ['/help/$', 'Help', 'Help'],
  ['/$', undefined, undefined],
])('the route %s belongs to %s', (route, place, page = place) => {
  const current = currentPlace(placeGroups('m', all), route)
  expect([current.place?.name, current.page?.name]).toEqual([place, page])
})

test('without a mesh there is no page about one', () => {
  const names = placeGroups(undefined, all).flatMap(({ places }) => places.map(({ name }) => name))
  expect(names).not.toContain('Heatmap')
  expect(names).toContain('Inventory')
})
