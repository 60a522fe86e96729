import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router'
import { render, screen } from '@testing-library/react'
import { test } from 'vitest'
import { PendingPage } from './PendingPage'

/** Open a page whose loader never ends. */
function open(title: string) {
  const root = createRootRoute({ component: Outlet })
  const page = createRoute({
    getParentRoute: () => root,
    path: '/',
    loader: () => new Promise(() => undefined),
    component: () => <h1>Loaded</h1>,
    staticData: { title },
  })
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: ['/'] }),
    defaultPendingMs: 0,
    defaultPendingComponent: PendingPage,
  })
  render(<RouterProvider router={router as never} />)
}

test('a page that loads has the heading that its route names', async () => {
  open('Heatmap')
  await screen.findByRole('heading', { level: 1, name: 'Heatmap' })
  screen.getByText(/Loading the page/)
})
