// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import type { Mesh } from '~/api/types'
import { mockApi, type Sent } from '~/testing/api'
import { showPage } from '~/testing/render'
import { MatrixPage } from './MatrixPage'
import { type MatrixSearch, matrixSearch } from './search'

const MESH = { id: 'm', name: 'production', window_s: 10, rate_hz: 8, flows: 1 } as Mesh
const VMS = ['a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1']
const ROSTER = {
  revision: 1,
  vms: VMS.map((name, key) => ({ id: name, key, name, zone_id: name[0], zone_name: `zone ${name[0]}` })),
  zones: [
    { id: 'a', name: 'zone a', first: 0, count: 2 },
    { id: 'b', name: 'zone b', first: 2, count: 3 },
    { id: 'c', name: 'zone c', first: 5, count: 1 },
  ],
}

/** Return a matrix of `size` rows whose delays rise by 1 ns from cell to cell: the codes of small delays count ns. */
function matrix(size: number): Response {
  const cells = size * size
  const bytes = new ArrayBuffer(24 + 3 * cells)
  const header = new DataView(bytes)
  header.setUint32(0, 0x314d_4e53, true)
  header.setUint32(4, size, true)
  header.setUint32(8, size, true)
  header.setUint32(12, ROSTER.revision, true)
  new Uint16Array(bytes, 24, cells).set(Array.from({ length: cells }, (_, i) => i + 11))
  return new Response(bytes, { headers: { 'Content-Type': 'application/octet-stream' } })
}

function Page({ start }: { start: MatrixSearch }) {
  const [search, setSearch] = useState(start)
  return (
    <MatrixPage
      mesh={MESH}
      search={search}
      onSearch={async (patch) => setSearch((old) => matrixSearch({ ...old, ...patch }))}
    />
  )
}

async function open(start: MatrixSearch) {
  mockApi({
    'GET /v1/meshes/m/matrix': ({ query }: Sent) => matrix(query.get('by') === 'zone' ? 3 : 6),
    'GET /v1/meshes/m/roster': ROSTER,
    'GET /v1/zones': [],
  })
  await showPage(<Page start={start} />)
  return screen.findByRole('grid')
}

/** Return the middle of a cell in a picture of 3×3 cells: without a layout, they are 53 pixels wide. */
const middle = (row: number, column: number) => ({ clientX: (column + 0.5) * 53, clientY: (row + 0.5) * 53 })
const picture = () => document.querySelector('canvas')?.parentElement as HTMLElement
const names = (grid: HTMLElement) => [grid.getAttribute('aria-rowcount'), grid.getAttribute('aria-colcount')]

test('a zone pair shows the VMs of its two zones, and no path that was pointed at before', async () => {
  await open({ by: 'zone' })
  fireEvent.pointerMove(picture(), middle(1, 2))
  fireEvent.click(picture(), middle(1, 2))
  const grid = await screen.findByRole('grid', { name: 'One-way delay, p50 by path' })
  expect(names(grid)).toEqual(['3', '1'])
  const pair = within(screen.getByRole('region', { name: 'Zone pair' }))
  expect(pair.getByRole('heading', { name: 'zone b to zone c' })).toBeTruthy()
  expect(pair.getByText(/^3 VMs to 1 VM;/)).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Selected path' })).toBeNull()
})

test('the cells of a zone pair are the paths between its VMs', async () => {
  const grid = await open({ zones: 'b,c', cell: '1,0' })
  // From b-2 (row 3 of the mesh) to c-1 (column 5): cell 3 · 6 + 5 has 23 + 10 ns.
  expect(within(grid).getByRole('gridcell').textContent).toBe('b-2 to c-1, p50 33.0 ns')
  const path = await screen.findByRole('region', { name: 'Selected path' })
  expect(within(path).getByRole('heading', { name: 'b-2 to c-1' })).toBeTruthy()
  expect(within(path).getByText('zone b → zone c')).toBeTruthy()
})

test('a zone pair leads back to all zones and to all VMs', async () => {
  const grid = await open({ zones: 'b,c' })
  expect(names(grid)).toEqual(['3', '1'])
  await userEvent.click(screen.getByRole('button', { name: 'Show all VMs' }))
  expect(names(await screen.findByRole('grid', { name: 'One-way delay, p50 by path' }))).toEqual(['6', '6'])
  expect(screen.queryByRole('region', { name: 'Zone pair' })).toBeNull()
})

test('an address that names no zone pair of the mesh shows the whole mesh', async () => {
  expect(names(await open({ zones: 'b,z' }))).toEqual(['6', '6'])
})
