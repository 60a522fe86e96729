import { expect, test } from 'vitest'
import type { Direction } from '~/api/types'
import { mockApi, recorded, screen, showPage, visit } from '~/testing/page'
import { NewestWindow } from './NewestWindow'

const DIRECTION = { p50_ns: 84_200, clock_error_ns: 2_500, asymmetry_source: 'assumed', sent: 80, lost: 0, count: 80 }
const PATH = recorded('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}', {
  ...{ outbound: DIRECTION, inbound: DIRECTION, timestamp_source: null },
})

test.each([
  ['hardware', 'by the network card, as packets pass the wire.'],
  ['kernel', 'by the kernel, as packets pass the driver of the network card.'],
  [
    'user',
    'at one end by the agent itself, after it was woken: delays include the time that it waited for a processor.',
  ],
] as const)('timestamps of source %s are explained', async (source, sentence) => {
  await visit(<NewestWindow path={{ ...PATH, timestamp_source: source }} clock="utc" />, {})
  expect(screen.getByText('Timestamp source').closest('p')?.textContent).toBe(`Timestamp source ${sentence}`)
})

test('the time in switches is shown where they report it, and an agent that names no VM', async () => {
  mockApi({})
  const held = { ...DIRECTION, residence_ns: 12_000 } as Direction
  const path = { ...PATH, outbound: held, inbound: { ...DIRECTION, residence_ns: null } as Direction }
  await showPage(<NewestWindow path={{ ...path, is_peer_unnamed: true }} clock="utc" />)
  const row = screen.getByRole('rowheader', { name: 'Residence time' }).closest('tr')
  expect(row?.textContent).toContain('12')
  expect(screen.getByText(/does not name its VM/)).toBeTruthy()
})

test('an unknown number has one dash, without a sign or a unit', async () => {
  const lost = { asymmetry_source: 'assumed', sent: null, lost: null, count: 0, clock_error_ns: null } as Direction
  await visit(<NewestWindow path={{ ...PATH, outbound: lost, inbound: lost }} clock="utc" />, {})
  const cells = (name: string) =>
    [...(screen.getByRole('rowheader', { name }).closest('tr')?.querySelectorAll('td') ?? [])].map(
      (cell) => cell.textContent,
    )
  expect(cells('Clock error').slice(0, 4)).toEqual(['–', '–', '–', '–'])
  expect(cells('Loss').slice(0, 4)).toEqual(['–', '–', '–', '–'])
})
