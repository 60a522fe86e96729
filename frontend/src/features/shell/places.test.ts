import { expect, test } from 'vitest'
import { currentPlace, placeGroups } from './places'

const all = () => true

test.each([
  ['/', 'Overview'],
  ['/meshes/$meshId/', 'Heatmap'],
  ['/meshes/$meshId/paths/$source/$target', 'Heatmap'],
  ['/meshes/$meshId/explore', 'Explore'],
  ['/meshes/$meshId/settings', 'Meshes'],
  ['/meshes/', 'Meshes'],
  ['/curves/$curveId/measure', 'Curves'],
  ['/vms/$vmId', 'VMs'],
  ['/alert-rules/new', 'Rules'],
  ['/annotations', 'Annotations'],
  ['/onboarding', 'Add a VM'],
  ['/advisors/', 'Advisors'],
  ['/advisors/fairness', 'Advisors'],
  ['/$', undefined],
])('the route %s belongs to %s', (route, name) => {
  expect(currentPlace(placeGroups('m', all), route)?.name).toBe(name)
})

test('without a mesh there is no page about one', () => {
  const names = placeGroups(undefined, all).flatMap(({ places }) => places.map(({ name }) => name))
  expect(names).not.toContain('Heatmap')
  expect(names).toContain('Meshes')
})
