import { expect, test } from 'vitest'
import type { Path } from '~/api/types'
import { LOOK, type Look } from '~/charts/heatmap/grid'
import { cellsOf, recorded, screen, visit } from '~/testing/page'
import { CellDetail } from './CellDetail'

const A = { id: 'a', name: 'a-1', zone: 'a' }
const B = { id: 'b', name: 'b-1', zone: 'b' }
const RECORDED = recorded('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}')
const DELAYS = { p50_ns: 84_200, p99_ns: 99_000, sd_ns: 145.853, count: 78 }
const OUTBOUND = {
  ...{ ...RECORDED.outbound, ...DELAYS, clock_error_ns: 2_500, asymmetry_source: 'assumed', sent: 80, lost: 2 },
}
const PATH = {
  ...{ ...RECORDED, started_at: '2026-11-20T23:10:20Z', window_s: 10, outbound: OUTBOUND, no_service: null },
  inbound: { ...OUTBOUND, asymmetry_source: 'hardware', p99_ns: null, lost: 0, count: 80 },
  round_trip: { ...RECORDED.round_trip, ...DELAYS },
} as Path

const CHANGE = {
  ...recorded('/v1/meshes/{mesh_id}/deviations').items[0],
  ...{ value_ns: 84_200, baseline_ns: 80_000, deviation_ns: 4_200, basis: 'last_day', steps: 22, is_unusual: false },
}
const detail = (look: Look, path: Path | undefined, { change = CHANGE as object, target = B } = {}) =>
  visit(<CellDetail meshId="m" source={A} target={target} look={look} path={path} clock="utc" isCompared />, {
    'GET /v1/meshes/m/deviations/a/b': change,
  })

test('a cell shows its newest window to the nanosecond, in both directions', async () => {
  await detail(LOOK.plain, PATH)
  expect(screen.getByRole('heading', { name: 'a-1 to b-1' })).toBeTruthy()
  expect(screen.getByText('a → b')).toBeTruthy()
  const row = (name: string) =>
    cellsOf(screen.getByRole('row', { name: new RegExp(`^${name} `) })).replaceAll('\u202f', ' ')
  expect(row('p50')).toBe('84 200 | 84 200 | 84 200')
  const shown = screen.getAllByRole('rowheader').map(({ textContent }) => textContent)
  expect(shown.slice(0, 8)).toEqual(['min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'SD'])
  expect(row('SD')).toBe('146 | 146 | 146')
  // A missing value is not zero.
  expect(row('p99')).toBe('99 000 | – | 99 000')
  expect(row('Clock error')).toBe('±2 500 | ±2 500 | none')
  expect(row('Asymmetry source')).toBe('assumed | hardware | ')
  expect(row('Loss')).toMatch(/^2.50 % \| 0 % \|/)
  expect(row('Samples')).toBe('78 | 80 | 78')
  expect(screen.getByText('Window 20 Nov 2026, 23:10:20 – 23:10:30 UTC')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Open path' }).getAttribute('href')).toBe('/meshes/m/paths/a/b')
})

test.each([
  [LOOK.dotted, 'Not planned.'],
  [LOOK.lined, 'No data yet.'],
  [LOOK.veiled, 'Stale.'],
  [LOOK.crossed, 'Lost.'],
] as const)('a cell of look %i explains why it has no fresh value', async (look, name) => {
  await detail(look, undefined)
  expect(screen.getByText(name)).toBeTruthy()
  expect(screen.queryByRole('table')).toBeNull()
})

test('a VM has no path to itself', async () => {
  await detail(LOOK.dotted, undefined, { target: A })
  expect(screen.queryByRole('link', { name: 'Open path' })).toBeNull()
})

test.each([
  [{}, 'as usual', 'the last 24 h (22 hours)'],
  [{ deviation_ns: 9_000, is_unusual: true, basis: 'same_hour', steps: 6 }, '+9.00 µs', 'this hour on 6 earlier days'],
  [{ basis: 'last_hour', steps: 50 }, 'as usual', 'the last hour (50 minutes)'],
])('a cell says what is usual, and what that is made of: %j', async (change, shown, basis) => {
  await detail(LOOK.plain, PATH, { change: { ...CHANGE, ...change } })
  expect(cellsOf(await screen.findByRole('table', { name: 'Change from usual' }))).toBe(`80.0 µs | 84.2 µs | ${shown}`)
  expect(screen.getByText(`One-way p50. Usual: ${basis}. Changes up to 5.00 µs are usual.`)).toBeTruthy()
})

test('a path that is measured too short a time has no usual value', async () => {
  const none = { state: 'no_baseline', baseline_ns: null, deviation_ns: null, dead_band_ns: null, basis: null }
  await detail(LOOK.plain, PATH, { change: { ...CHANGE, ...none } })
  expect(await screen.findByText('No usual value yet: it needs about twenty minutes of measurements.')).toBeTruthy()
})

test('a path without service names the reason, and shows no loss', async () => {
  const no_service = { reason: 'refused', message: 'it refuses the grants', reported_at: '2026-11-20T10:00:00Z' }
  await detail(LOOK.ringed, { ...PATH, outbound: null, inbound: null, round_trip: null, no_service } as Path)
  expect(screen.getByText('No service.').parentElement?.textContent).toMatch(/It refuses the grants\.$/)
  expect(screen.queryByText(/100/)).toBeNull()
  expect(screen.queryByText(/usual/)).toBeNull()
})

test('a path that is not measured shows its estimates with their intervals', async () => {
  const one = { value_ns: 84_200, low_ns: 71_000, high_ns: 99_000 }
  const estimate = { coverage: 0.95, measured: 1_240, outbound: one, inbound: null }
  await detail(LOOK.barred, { estimate } as unknown as Path)
  expect(screen.getByText('Estimated.')).toBeTruthy()
  expect(screen.getByText('Outbound: p50 84.2 µs, between 71.0 µs and 99.0 µs with 95 % confidence')).toBeTruthy()
  expect(screen.getByText(/^Estimated from 1.240 measured paths\.$/)).toBeTruthy()
})
