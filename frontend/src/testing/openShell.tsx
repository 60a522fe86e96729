/** The shell in tests, around empty pages. */

import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  retainSearchParams,
  type StaticDataRouteOption,
} from '@tanstack/react-router'
import { render, screen } from '@testing-library/react'
import type { components } from '~/api/schema.gen'
import { Shell } from '~/features/shell/Shell'
import { appSearch, RETAINED } from '~/lib/searchParams'
import { theme } from '~/ui/theme'
import { mockApi } from './api'

const vm = (id: string, name: string) => ({ id, name, zone: { name: 'eu-west-1a' } })

const ANSWERS = {
  'GET /v1/meshes': [
    { id: 'm', name: 'production' },
    { id: 'n', name: 'staging' },
  ],
  'GET /v1/incidents': [
    { id: 'i', title: 'Loss at web-20', severity: 'critical', mesh: { id: 'm', name: 'production' } },
  ],
  'GET /v1/vms': [vm('1', 'web-20'), vm('2', 'db-21'), vm('3', 'web-2')],
  'GET /v1/applications': [{ id: 'a', name: 'checkout' }],
  'GET /v1/saved-views': [{ id: 'w', name: 'Loss today', address: '/meshes/m?metric=loss', created_by: 'ada' }],
  'GET /v1/curves': [{ id: 'memcached-server', name: 'Memcached server' }],
  'GET /v1/meshes/m/roster': { vms: [vm('1', 'web-20'), vm('2', 'db-21')] },
  'GET /v1/meshes/n/roster': { vms: [vm('3', 'web-2')] },
}

const PATHS = [
  ...[
    '/',
    '/vms',
    '/vms/$vmId',
    '/incidents',
    '/incidents/$incidentId',
    '/alert-rules/new',
    '/annotations',
    '/receivers',
  ],
  ...['/applications/$applicationId', '/curves', '/curves/$curveId'],
  ...['/simulations', '/simulations/$simulationId', '/advisors/tail-lab'],
  ...['/meshes/$meshId', '/meshes/$meshId/explore', '/meshes/$meshId/paths/$source/$target'],
]

const TIMES: Record<string, StaticDataRouteOption> = {
  '/meshes/$meshId': { time: { span: '5m', isLive: true, compares: true }, isForWalls: true, embed: 'heatmap' },
  '/meshes/$meshId/paths/$source/$target': { time: { span: '15m', compares: true } },
}

type About = components['schemas']['About']

interface Options {
  /** Shown below the heading. */
  page?: React.ReactNode
  /** Laboratories of the server. */
  labs?: string[]
  /** Whether the tenant's alerts are in time, as the server reports it. */
  alerts?: About['alerts'] | undefined
}

/** Render the shell at an address; each page is its route as a heading. Return the router. */
export async function openShell(address: string, { page, labs = ['simulations', 'tail-lab'], alerts }: Options = {}) {
  mockApi({ ...ANSWERS, 'GET /v1/about': { labs, alerts } })
  const root = createRootRoute({
    component: Shell,
    validateSearch: appSearch,
    search: { middlewares: [retainSearchParams([...RETAINED])] },
  })
  const route = (path: string) => {
    const component = () => (
      <>
        <h1>{path}</h1>
        {page}
      </>
    )
    return createRoute({ getParentRoute: () => root, path, component, staticData: TIMES[path] ?? {} })
  }
  const history = createMemoryHistory({ initialEntries: [address] })
  const router = createRouter({ routeTree: root.addChildren(PATHS.map(route)), history })
  render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  await screen.findByRole('link', { name: 'Heatmap' })
  return router
}
