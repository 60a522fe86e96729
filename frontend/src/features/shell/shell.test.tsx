// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { mockApi } from '~/testing/api'
import { theme } from '~/ui/theme'
import { Shell } from './Shell'

const MESHES = [
  { id: 'm', name: 'production' },
  { id: 'n', name: 'staging' },
]

/** Render the shell around empty pages at an address. */
async function open(address: string) {
  mockApi({ 'GET /v1/meshes': MESHES })
  const root = createRootRoute({ component: Shell })
  const paths = ['/vms', '/incidents', '/meshes/$meshId', '/meshes/$meshId/explore', '/meshes/$meshId/paths/$a/$b']
  const routeTree = root.addChildren(
    paths.map((path) => createRoute({ getParentRoute: () => root, path, component: () => <h1>{path}</h1> })),
  )
  const history = createMemoryHistory({ initialEntries: [address] })
  const router = createRouter({ routeTree, history })
  render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={new QueryClient()}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  await screen.findByRole('link', { name: 'Heatmap' })
  return router
}

const picker = () => screen.queryByRole<HTMLSelectElement>('combobox', { name: 'Mesh' })

test.each(['/vms', '/incidents'])('%s is about all meshes: there is no mesh to pick', async (address) => {
  await open(address)
  expect(picker()).toBeNull()
})

test.each([
  ['/meshes/m', '/meshes/n'],
  ['/meshes/m/explore', '/meshes/n/explore'],
  ['/meshes/m/paths/1/2', '/meshes/n'],
])('on %s another mesh opens at %s', async (address, next) => {
  const router = await open(address)
  expect(picker()?.value).toBe('m')
  await userEvent.selectOptions(picker() as HTMLElement, 'staging')
  await expect.poll(() => router.state.location.pathname).toBe(next)
})

test('the drawer has every page, and closes when one opens', async () => {
  const router = await open('/incidents')
  await userEvent.click(screen.getByRole('button', { name: 'Open navigation' }))
  const drawer = within(await screen.findByRole('dialog', { name: 'Sinemora' }))
  for (const name of ['Heatmap', 'Incidents', 'Zones', 'Silences', 'Add a VM']) {
    expect(drawer.getByRole('link', { name })).toBeTruthy()
  }
  await userEvent.click(drawer.getByRole('link', { name: 'VMs' }))
  await expect.poll(() => router.state.location.pathname).toBe('/vms')
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
})
