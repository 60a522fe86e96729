// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { VmPage } from './VmPage'

const named = (id: string, name = id) => ({ id, name })

const path = (source: string, target: string, change: number | null) => ({
  source: named(source),
  target: named(target),
  value_ns: 280_000,
  baseline_ns: change === null ? null : 80_000,
  deviation_ns: change,
  is_unusual: change === null ? null : change > 100_000,
  loss: 0.015,
})

const direction = (worst: object[]) => ({
  ...{ paths: 29, measured: 28, lost: 1, unusual: 1, lossy: 2, median_ns: 81_000 },
  worst,
})

const ANSWERS = {
  'GET /v1/vms/web': {
    id: 'web',
    name: 'web-1',
    zone: { id: 'z', name: 'eu-1a', provider: 'aws', region: 'eu-1' },
    agent: null,
  },
  'GET /v1/vms/web/paths': {
    vm_id: 'web',
    meshes: [
      {
        mesh: named('m', 'production'),
        clock_error_ns: 900,
        outbound: direction([path('web', 'db', 200_000), path('web', 'cache', 1_000)]),
        inbound: direction([path('db', 'web', null)]),
      },
    ],
  },
  'GET /v1/applications': [
    { ...named('a', 'checkout'), mesh: named('m', 'production'), tasks: [{ name: 'front', vm: named('web') }] },
    { ...named('b', 'other'), mesh: named('m', 'production'), tasks: [{ name: 'x', vm: null }] },
  ],
  'GET /v1/incidents': [
    incident('i', 'Delay at web-1', 'm', 'egress', 'web'),
    incident('j', 'Delay at db', 'm', 'egress', 'db'),
    incident('k', 'The mesh elsewhere', 'n', 'mesh', null),
  ],
}

function incident(id: string, title: string, mesh: string, suspect: string, at: string | null) {
  return {
    ...{ id, title, mesh: named(mesh), severity: 'warning', onset_at: '2026-11-20T10:00:00Z', ended_at: null },
    culprit: { suspect, at: at && named(at), other: null },
  }
}

const rowsOf = async (name: string) =>
  within(await screen.findByRole('region', { name }))
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.textContent)

test('a VM shows its row and its column, each peer a link to the path', async () => {
  mockApi(ANSWERS)
  await showPage(<VmPage vmId="web" />)
  expect(await screen.findByRole('heading', { name: 'Paths in production' })).toBeTruthy()
  expect(screen.getByText(/^now: ± 900 ns/)).toBeTruthy()
  expect(screen.getAllByText('28 of 29 paths measured, median p50 81.0 µs; 1 unusual, 3 with loss.')).toHaveLength(2)
  expect(await rowsOf('Outbound, worst first')).toEqual([
    'db280 µs80.0 µs+200 µs1.50 %',
    'cache280 µs80.0 µsas usual1.50 %',
  ])
  expect(await rowsOf('Inbound, worst first')).toEqual(['db280 µs––1.50 %'])
  const [out, into] = screen.getAllByRole('link', { name: 'db' })
  expect(out?.getAttribute('href')).toBe('/meshes/m/paths/web/db')
  expect(into?.getAttribute('href')).toBe('/meshes/m/paths/db/web')
})

test('a VM lists its applications and the incidents that are about it', async () => {
  mockApi(ANSWERS)
  await showPage(<VmPage vmId="web" />)
  expect(await rowsOf('Applications on this VM')).toEqual(['checkoutfrontproduction'])
  const incidents = await rowsOf('Incidents')
  expect(incidents).toHaveLength(1)
  expect(incidents[0]).toMatch(/^Delay at web-1Warning/)
})
