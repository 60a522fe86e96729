// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Direction, Path } from '~/api/types'
import { LOOK, type Look } from '~/charts/heatmap/grid'
import { mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { CellDetail } from './CellDetail'

const A = { id: 'a', name: 'a-1', zone: 'a' }
const B = { id: 'b', name: 'b-1', zone: 'b' }
const DELAYS = {
  min_ns: 80_100,
  mean_ns: 84_250,
  p50_ns: 84_200,
  p90_ns: 90_000,
  p99_ns: 99_000,
  max_ns: 1_200_300,
  sd_ns: 145.853,
}
const OUTBOUND = { ...DELAYS, clock_error_ns: 2_500, asymmetry_source: 'assumed', sent: 80, lost: 2, count: 78 }
const PATH = {
  started_at: '2026-11-20T23:10:20Z',
  window_s: 10,
  outbound: OUTBOUND as Direction,
  inbound: { ...OUTBOUND, asymmetry_source: 'hardware', p99_ns: null, lost: 0, count: 80 } as Direction,
  round_trip: { ...DELAYS, count: 78 },
} as Path

const detail = (look: Look, path: Path | undefined, target = B) =>
  showPage(<CellDetail meshId="m" source={A} target={target} look={look} path={path} clock="utc" />)

test('a cell shows its newest window to the nanosecond, in both directions', async () => {
  mockApi({})
  await detail(LOOK.plain, PATH)
  expect(screen.getByRole('heading', { name: 'a-1 to b-1' })).toBeTruthy()
  expect(screen.getByText('a → b')).toBeTruthy()
  const row = (name: string) =>
    within(screen.getByRole('row', { name: new RegExp(`^${name} `) }))
      .getAllByRole('cell')
      .map(({ textContent }) => textContent?.replaceAll('\u202f', ' '))
  expect(row('p50')).toEqual(['84 200', '84 200', '84 200'])
  const shown = screen.getAllByRole('rowheader').map(({ textContent }) => textContent)
  expect(shown.slice(0, 8)).toEqual(['min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'SD'])
  expect(row('SD')).toEqual(['146', '146', '146'])
  // A missing value is not zero.
  expect(row('p99')).toEqual(['99 000', '–', '99 000'])
  expect(row('Clock error')).toEqual(['±2 500', '±2 500', 'none'])
  expect(row('Asymmetry source')).toEqual(['assumed', 'hardware', ''])
  expect(row('Loss').slice(0, 2)).toEqual(['2.50 %', '0 %'])
  expect(row('Samples')).toEqual(['78', '80', '78'])
  expect(screen.getByText('Window 23:10:20 – 23:10:30 UTC')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Open path' }).getAttribute('href')).toBe('/meshes/m/paths/a/b')
})

test.each([
  [LOOK.dotted, 'Not planned.'],
  [LOOK.lined, 'No data yet.'],
  [LOOK.veiled, 'Stale.'],
  [LOOK.crossed, 'Lost.'],
] as const)('a cell of look %i explains why it has no fresh value', async (look, name) => {
  mockApi({})
  await detail(look, undefined)
  expect(screen.getByText(name)).toBeTruthy()
  expect(screen.queryByRole('table')).toBeNull()
})

test('a VM has no path to itself', async () => {
  mockApi({})
  await detail(LOOK.dotted, undefined, A)
  expect(screen.queryByRole('link', { name: 'Open path' })).toBeNull()
})
