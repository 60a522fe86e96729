// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { Mesh } from '~/api/types'
import { bodiesOf, fail, hang, mockApi, refuse } from '~/testing/api'
import { showPage } from '~/testing/render'
import { MeshSettingsPage } from './MeshSettingsPage'

const MESH = {
  id: 'm',
  name: 'demo',
  window_s: 10,
  rate_hz: 8,
  spike_threshold_ns: 500_000,
  loss_deadline_ms: 1_000,
} as Mesh

test('a mesh can be deleted although its members cannot be read', async () => {
  mockApi({ 'GET /v1/meshes/m/roster': () => fail(503, 'The database is away.'), 'GET /v1/vms': [] })
  await showPage(<MeshSettingsPage mesh={MESH} etag="1" />)
  expect((await screen.findByRole('alert')).textContent).toContain('members')
  expect(screen.getByRole('button', { name: /^Delete/ })).toBeTruthy()
})

test('nothing below the members shows before they are known, so that nothing moves', async () => {
  mockApi({ 'GET /v1/meshes/m/roster': hang, 'GET /v1/vms': [] })
  await showPage(<MeshSettingsPage mesh={MESH} etag="1" />)
  expect(await screen.findByText('Loading the members…')).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})

test('the spike threshold is typed in µs, and a refused deadline shows the reason at its field', async () => {
  const sent = mockApi({
    'GET /v1/meshes/m/roster': hang,
    'GET /v1/vms': [],
    'PATCH /v1/meshes/m': () => refuse('loss_deadline_ms', 'At most 2000.'),
  })
  await showPage(<MeshSettingsPage mesh={MESH} etag="1" />)
  const spike = await screen.findByRole('spinbutton', { name: /^Spike above/ })
  await userEvent.clear(spike)
  await userEvent.type(spike, '62.5')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByText('At most 2000.')).toBeTruthy()
  expect(bodiesOf(sent, 'PATCH /v1/meshes/m')).toEqual([{ spike_threshold_ns: 62_500 }])
})
