// @vitest-environment jsdom
import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { mockApi, reply } from '~/testing/api'
import { firstMesh } from './firstMesh'

const meshes =
  (...ids: string[]) =>
  () =>
    reply(200, { items: ids.map((id) => ({ id })), next_cursor: null })

test('the first mesh is the one that addresses without a mesh lead to', async () => {
  mockApi({ 'GET /v1/meshes': meshes('m', 'n') })
  expect(await firstMesh(new QueryClient())).toBe('m')
})

test('without a mesh they lead to the page that creates one', async () => {
  mockApi({ 'GET /v1/meshes': meshes() })
  await expect(firstMesh(new QueryClient())).rejects.toMatchObject({ options: { to: '/onboarding' } })
})
