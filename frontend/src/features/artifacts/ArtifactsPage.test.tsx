import { expect, test } from 'vitest'
import type { ArtifactCopies } from '~/api/types'
import { bodiesOf, fail, fill, recorded, reply, type Sent, screen, userEvent, visit, within } from '~/testing/page'
import { ArtifactPage } from './ArtifactPage'
import { ArtifactsPage } from './ArtifactsPage'
import { pictureOf, segmentsOf, zonesOf } from './spread'

const RECORDED = recorded('/v1/artifacts/{artifact_id}/copies')
const ARTIFACT = {
  ...{ ...RECORDED.artifact, id: 'a', mesh_id: 'm', name: 'plug-in.tar', release: '1.4' },
  ...{ size_bytes: 10 * 2 ** 20, complete: 1 },
}
const [, , WAITING] = RECORDED.items
const copy = (name: string, zone: string, more: object = {}) =>
  ({ ...WAITING, vm_id: name, name, zone, waits_for: null, ...more }) as ArtifactCopies['items'][number]
const MIB = 2 ** 20
const COPIES: ArtifactCopies = {
  artifact: ARTIFACT,
  items: [
    copy('vm-1', 'a', {
      ...{ state: 'complete', share: 1, seconds: 4.2, rate_mbit: 20 },
      sources: [{ vm_id: null, name: 'Backend', size_bytes: 10 * MIB }],
      ...{ completed_at: '2026-11-26T04:00:05Z', done_at: '2026-11-26T04:00:05Z' },
    }),
    copy('vm-2', 'a', {
      ...{ state: 'fetching', share: 0.5, corrupt_from: ['vm-3'], rate_mbit: 12, done_at: '2026-11-26T04:10:00Z' },
      sources: [
        { vm_id: 'vm-1', name: 'vm-1', size_bytes: 3 * MIB },
        { vm_id: 'vm-3', name: 'vm-3', size_bytes: MIB },
      ],
    }),
    copy('vm-3', 'b', { waits_for: 'request' }),
  ],
  peer_bytes: 4 * MIB,
  backend_bytes: 10 * MIB,
}
const MESH = { id: 'm', name: 'production', vm_count: 3 }
const SETTINGS = recorded('/v1/meshes/{mesh_id}/artifact-settings', { mesh_id: 'm', enabled: false, version: 0 })

test('a distribution that another person changed meanwhile is not overwritten, and what is typed stays', async () => {
  let stored = SETTINGS
  const { sent } = await visit(<ArtifactsPage />, {
    'GET /v1/artifacts': [],
    'GET /v1/meshes': [MESH],
    'GET /v1/meshes/m/artifact-settings': () => reply(200, stored),
    'PUT /v1/meshes/m/artifact-settings': ({ headers }: Sent) =>
      headers.get('If-Match') === `"${stored.version}"` ? reply(200, stored) : fail(412, 'Version changed.'),
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Change the distribution in production' }))
  const dialog = within(await screen.findByRole('dialog'))
  const rate = () => dialog.getByLabelText<HTMLInputElement>('Limit of what an agent sends and receives (Mbit/s)')
  await fill(rate(), '20')
  stored = { ...SETTINGS, enabled: true, version: 1 }
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  expect(await dialog.findByText(/^Distribute artifacts in this mesh: \S+ → \S+$/)).toBeTruthy()
  expect(rate().value).toBe('20')
  await userEvent.click(dialog.getByRole('button', { name: 'Keep my entries' }))
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }))
  await expect
    .poll(() => bodiesOf(sent, 'PUT /v1/meshes/m/artifact-settings'))
    .toEqual([false, true].map((enabled) => ({ enabled, rate_mbit: 20, budget_mib: 2048 })))
})

test('an artifact shows what each VM has, from whom, how fast and when it is complete', async () => {
  const { sent } = await visit(<ArtifactPage artifactId="a" />, {
    'GET /v1/artifacts/a/copies': COPIES,
    'GET /v1/meshes/m/roster': {
      revision: 1,
      vms: [{ id: 'vm-1' }, { id: 'vm-4', name: 'vm-4', zone_name: 'b' }],
      zones: [],
    },
    'POST /v1/artifacts/a/copies': () => reply(202, COPIES),
  })
  expect(await screen.findByRole('heading', { name: 'plug-in.tar 1.4' })).toBeDefined()
  const picture = screen.getByRole('img')
  expect(picture.getAttribute('aria-label')).toContain(
    '1 of 3 copies are complete; 28 % of what arrived came from other VMs.',
  )
  const complete = within(screen.getByRole('row', { name: /^vm-1 / }))
  expect(complete.getByText(/took 4.20 s/)).toBeDefined()
  const row = within(screen.getByRole('row', { name: /^vm-2 / }))
  expect(row.getByText('vm-1 75 %, vm-3 25 %')).toBeDefined()
  expect(row.getByText('50 %')).toBeDefined()
  expect(row.getByText('12.0 Mbit/s')).toBeDefined()
  expect(row.getByText(/^in about /)).toBeDefined()
  expect(screen.getByText(/Corrupt blocks came from vm-3/)).toBeDefined()
  const waiting = within(screen.getByRole('row', { name: /^vm-3 / }))
  expect(waiting.getByText(/Its sinemora-transfer has not asked for artifacts for a minute/)).toBeDefined()
  await userEvent.click(await screen.findByRole('combobox', { name: 'Send a copy to' }))
  await userEvent.click(await screen.findByRole('option', { name: 'vm-4, b' }))
  expect(bodiesOf(sent, 'POST /v1/artifacts/a/copies')).toEqual([{ vm_ids: ['vm-4'] }])
})

test('parts of a copy are told apart by where they came from', () => {
  const zones = zonesOf(COPIES)
  expect(segmentsOf(COPIES.items[1] as never, ARTIFACT.size_bytes, zones)).toEqual([
    { origin: 'before', share: expect.closeTo(0.1) },
    { origin: 'nearby', share: expect.closeTo(0.3) },
    { origin: 'elsewhere', share: expect.closeTo(0.1) },
  ])
})

test('the picture has a line for every pair, the widest for most bytes; many VMs are drawn by zone', () => {
  const picture = pictureOf(COPIES, 'Backend')
  expect(picture.lines.map(({ from, to, weight }) => [from.name, to.name, weight])).toEqual([
    ['Backend', 'vm-1', 1],
    ['vm-1', 'vm-2', 0.3],
    ['vm-3', 'vm-2', 0.1],
  ])
  const many = Array.from({ length: 60 }, (_, n) =>
    copy(`vm-${n}`, n < 30 ? 'a' : 'b', { share: 0.5, sources: [{ vm_id: 'vm-0', name: 'vm-0', size_bytes: MIB }] }),
  )
  const merged = pictureOf({ ...COPIES, items: many, backend_bytes: 0 }, 'Backend')
  expect(merged.places.map(({ name, share }) => [name, share])).toEqual([
    ['30 VMs', 0.5],
    ['30 VMs', 0.5],
  ])
  expect(merged.lines.map(({ from, to }) => [from.id, to.id])).toEqual([['a', 'b']])
})

test('the command names a mesh so that a shell takes its name as it is', async () => {
  await visit(<ArtifactsPage />, {
    'GET /v1/artifacts': [],
    'GET /v1/meshes': [{ ...MESH, name: 'prod $(reboot)' }],
    'GET /v1/meshes/m/artifact-settings': SETTINGS,
  })
  const command = await screen.findByRole('group', { name: 'Command to publish' })
  expect(command.textContent).toContain("--mesh 'prod $(reboot)' --url")
})
