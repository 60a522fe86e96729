// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Mesh } from '~/api/types'
import { fail, hang, mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { MeshSettingsPage } from './MeshSettingsPage'

const MESH = { id: 'm', name: 'demo', window_s: 10, rate_hz: 8 } as Mesh

test('a mesh can be deleted although its members cannot be read', async () => {
  mockApi({ 'GET /v1/meshes/m/roster': () => fail(503, 'The database is away.'), 'GET /v1/vms': [] })
  await showPage(<MeshSettingsPage mesh={MESH} etag="1" />)
  expect((await screen.findByRole('alert', {}, { timeout: 10_000 })).textContent).toContain('members')
  expect(screen.getByRole('button', { name: /^Delete/ })).toBeTruthy()
})

test('nothing below the members shows before they are known, so that nothing moves', async () => {
  mockApi({ 'GET /v1/meshes/m/roster': hang, 'GET /v1/vms': [] })
  await showPage(<MeshSettingsPage mesh={MESH} etag="1" />)
  expect(await screen.findByText('Loading the members…')).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})
