import { expect, test } from 'vitest'
import type { Mesh, Path } from '~/api/types'
import { mockApi, screen, showPage } from '~/testing/page'
import { PathHead } from './PathHead'

const MESH = { id: 'm', name: 'production' } as Mesh
const PATH = {
  source: { id: '1', name: 'web-1', zone_name: 'eu-1a' },
  target: { id: '3', name: 'db-1', zone_name: 'eu-1b' },
} as Path
const ROSTER = {
  revision: 1,
  vms: [
    { id: '1', zone_id: 'a' },
    { id: '2', zone_id: 'a' },
    { id: '3', zone_id: 'b' },
  ],
  zones: [
    { id: 'a', count: 2 },
    { id: 'b', count: 1 },
  ],
}
const USUAL = { baseline_ns: 80_123, dead_band_ns: 5_000 }

async function open() {
  mockApi({ 'GET /v1/meshes/m/roster': ROSTER, 'GET /v1/meshes/m/deviations/1/3': USUAL })
  return showPage(<PathHead mesh={MESH} path={PATH} controls={null} />)
}

const addressOf = async (name: string | RegExp) => (await screen.findByRole('link', { name })).getAttribute('href')

test('a path leads to its mesh, its zone pair, its VMs and its reverse', async () => {
  await open()
  expect(await addressOf('production')).toBe('/meshes/m')
  expect(await addressOf('eu-1a to eu-1b, 2 × 1 VMs')).toBe('/meshes/m?zones=a%2Cb')
  expect(await addressOf('VM web-1')).toBe('/vms/1')
  expect(await addressOf('VM db-1')).toBe('/vms/3')
  expect(await addressOf('Swap direction')).toBe('/meshes/m/paths/3/1')
})

test('an alert begins with the path and a limit above its usual delay', async () => {
  await open()
  await expect
    .poll(() => addressOf('Create alert'))
    .toBe('/alert-rules/new?mesh=m&source=web-1&target=db-1&above=91000')
})
