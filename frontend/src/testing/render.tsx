/** Render components in tests as the product renders them: within the theme, the query cache and a router. */

import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, waitFor } from '@testing-library/react'
import { type ComponentType, type ReactNode, useState } from 'react'
import type { Patch } from '~/lib/searchParams'
import { theme } from '~/ui/theme'
import { type Answers, mockApi } from './api'

export const show = (children: ReactNode) =>
  render(
    <MantineProvider theme={theme} env="test">
      {children}
    </MantineProvider>,
  )

/** Render a part of a page at an address; return the router, which knows where a link or a form led. */
export async function showPage(children: ReactNode, address = '/') {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  // Every route shows the same component, so that a test can still read it after a navigation.
  const routeTree = createRootRoute({ component: () => children, notFoundComponent: () => children })
  const history = createMemoryHistory({ initialEntries: [address] })
  const router = createRouter({ routeTree, history, context: { queryClient } })
  const rendered = show(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  )
  await waitFor(() => {
    if (rendered.container.childElementCount === 0) throw new Error('The page is not rendered yet.')
  })
  return router
}

/** Render a page whose requests get these answers; return the requests sent and the router. */
export async function visit(page: ReactNode, answers: Answers, address?: string) {
  const sent = mockApi(answers)
  return { sent, router: await showPage(page, address) }
}

/**
 * Render a page that keeps its search parameters as its route does; return the requests sent and a function that reads
 * the parameters.
 */
export async function visitSearch<S extends object>(
  Page: ComponentType<{ search: S; onSearch: (patch: Patch<S>) => void }>,
  parse: (raw: Record<string, unknown>) => S,
  answers: Answers,
  start = {} as S,
  path?: string,
) {
  let present = start
  function Kept() {
    const [search, setSearch] = useState(start)
    present = search
    return <Page search={search} onSearch={(patch) => setSearch((old) => parse({ ...old, ...patch }))} />
  }
  return { ...(await visit(<Kept />, answers, path)), address: () => present }
}
