import { expect, test } from 'vitest'
import type { Mesh } from '~/api/types'
import { recorded, rowsOf, screen, userEvent, visitSearch, within } from '~/testing/page'
import { PathPage } from './PathPage'
import { type PathSearch, pathSearch } from './search'

// Charts need a size and a canvas; what is around them is tested here.
const MESH = { id: 'm', name: 'production' } as Mesh
const end = (id: string, name: string) => ({ id, name, zone_name: 'eu-1a' })
const [WEB, DB] = [end('1', 'web-1'), end('2', 'db-1')]

const PATH = recorded('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}', {
  ...{ source: WEB, target: DB, started_at: null, outbound: null, inbound: null, round_trip: null, by_flow: [] },
})
const [BINS] = recorded('/v1/meshes/{mesh_id}/distribution').items
const direction = (source: string, target: string, min: number, p99: number) => ({
  ...{ ...BINS, selection: `path:${source}:${target}`, title: `${source} → ${target}`, min_ns: min },
  quantiles_ns: { p1: min, p25: min, p50: min + 1_000, p90: min + 2_000, p99, p999: p99 },
})

const application = (id: string, cost: number | null) => ({
  ...{ id, name: `application ${id}`, path_links: 1, links: 4, performance: 0.82, cost },
  ...{ objective: id === 'a' ? 0.9 : null, below_objective: id === 'a' ? true : null },
})

const SPIKE = {
  ...{ id: '1-2-3', source: WEB, target: DB, started_at: '2026-11-20T23:10:20Z', window_s: 10 },
  ...{ max_ns: 900_000, median_ns: 80_000, rise_ns: 820_000 },
}

const incident = (id: string, suspect: string, at: object | null) => ({
  ...{ id, title: `Incident ${id}`, severity: 'warning', onset_at: '2026-11-20T10:00:00Z', ended_at: null },
  culprit: { suspect, at, other: null },
})

const ANSWERS = {
  'GET /v1/incidents': [incident('i', 'egress', WEB), incident('j', 'ingress', WEB), incident('k', 'mesh', null)],
  'GET /v1/meshes/m/paths/1/2': PATH,
  'GET /v1/meshes/m/paths/1/2/applications': { window: {}, items: [application('a', 0.031), application('b', null)] },
  'GET /v1/meshes/m/distribution': {
    items: [direction('1', '2', 80_000, 140_000), direction('2', '1', 300_000, 314_000)],
  },
  'GET /v1/meshes/m/spikes': [SPIKE],
  'GET /v1/meshes/m/spikes/1-2-3': {
    ...SPIKE,
    at_ns: [0, 1e9],
    outbound_ns: [80_000, 900_000],
    inbound_ns: [70_000, 71_000],
  },
}

async function open(answers: object = {}) {
  const opened = await visitSearch<PathSearch>(
    (props) => <PathPage {...{ mesh: MESH, source: '1', target: '2', ...props }} />,
    pathSearch,
    { ...ANSWERS, ...answers },
  )
  await screen.findByRole('heading', { level: 1 })
  return opened
}

test('what slows a path names the applications on it with their cost, and the incidents that include it', async () => {
  await open()
  await userEvent.click(screen.getByRole('tab', { name: 'Why slow?' }))
  const table = within(await screen.findByRole('region', { name: 'Applications affected' }))
  expect(await rowsOf('Applications affected')).toEqual([
    'application a3.10 %82.0 %90.0 %, missed1 of 4',
    'application b–82.0 %–1 of 4',
  ])
  expect(table.getByRole('link', { name: 'application a' }).getAttribute('href')).toBe('/applications/a')
  const list = within(await screen.findByRole('region', { name: 'Incidents' }))
  const links = list.getAllByRole('link').map((link) => link.getAttribute('href'))
  expect(links).toEqual(['/incidents/i', '/incidents/k'])
})

test('a path without service names the reason of the agent', async () => {
  const message = 'no service of the IEEE 1588 responder at 10.0.0.9:319: it refuses the grants'
  const path = {
    ...PATH,
    state: 'no_service',
    no_service: { reason: 'refused', message, reported_at: '2026-11-20T10:00:00Z' },
  }
  await open({ 'GET /v1/meshes/m/paths/1/2': path })
  expect(await screen.findByText(/nothing is lost\. No service of .* it refuses the grants\.$/)).toBeTruthy()
})

test('a tab is in the address', async () => {
  const { sent, address } = await open()
  await userEvent.click(screen.getByRole('tab', { name: 'Distribution' }))
  expect(address()).toEqual({ tab: 'distribution' })
  expect(await screen.findByRole('region', { name: 'Quantiles' })).toBeTruthy()
  const asked = sent.find(({ to }) => to === 'GET /v1/meshes/m/distribution')
  expect(asked?.query.getAll('selections')).toEqual(['path:1:2', 'path:2:1'])
  await userEvent.click(screen.getByRole('tab', { name: 'History' }))
  expect(address()).toEqual({})
})

test('symmetry compares each direction with its own fastest packet', async () => {
  await open()
  await userEvent.click(screen.getByRole('tab', { name: 'Symmetry' }))
  const p99 = await screen.findByRole('row', { name: /^p99 / })
  // One-way delays differ by 174 µs, most of it a clock offset; waiting differs the other way round.
  expect(p99.textContent).toBe('p9960.0 µs14.0 µs+46.0 µs')
})

test('raw exchanges are listed by spike, and one is open in the address', async () => {
  const { address } = await open()
  await userEvent.click(screen.getByRole('tab', { name: 'Raw exchanges' }))
  await userEvent.click(await screen.findByRole('button', { name: /^Exchanges of 20 Nov 2026, 23:10:20/ }))
  expect(address()).toEqual({ tab: 'exchanges', spike: '1-2-3' })
  await userEvent.click(await screen.findByText('Each exchange', { selector: 'summary' }))
  const last = screen.getByRole('row', { name: /^1\.000000 s/ })
  expect(last.textContent?.replace(/\s/g, '')).toBe('1.000000s900000ns71000ns971000ns')
})
