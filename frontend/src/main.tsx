import '@fontsource-variable/inter'
import '~/ui/layers.css'
import '@mantine/core/styles.layer.css'
import '~/ui/tokens.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRouter, RouterProvider } from '@tanstack/react-router'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { sessionQuery } from '~/api/access'
import { whenSecondFactorDue, whenSignedOut } from '~/api/client'
import { sessionEnd } from '~/api/sessionEnd'
import { connection } from '~/lib/connection'
import { passes } from '~/lib/problem'
import { focusPages } from '~/ui/pageFocus'
import { schemeManager, theme, variables } from '~/ui/theme'
import { routeTree } from './routeTree.gen'
import { PendingPage } from './ui/PendingPage'
import { Failed } from './ui/State'
import { usePrinting } from './ui/usePrinting'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // The connection probe waits for an unavailable server; a retry does not help against other failures.
      retry: (failures, error) => passes(error) && failures < 2,
      retryDelay: (failures) => 500 * 2 ** failures,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

const router = createRouter({
  routeTree,
  context: { queryClient },
  // Pages receive only search parameters that were validated.
  search: { strict: true },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  defaultPendingComponent: PendingPage,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <Failed what="This page" error={error} retry={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

// The code of the page loads while the session is asked for, instead of after it.
void queryClient.prefetchQuery(sessionQuery)
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  void router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById])
}

focusPages(router)

whenSignedOut(() => {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in' || pathname === '/embed' || pathname === '/invitation') return
  // What the person has entered on a page stays on it until they have signed in again.
  if (router.state.matches.some(({ routeId, status }) => routeId === '/_app' && status === 'success')) {
    sessionEnd.set(true)
    return
  }
  queryClient.removeQueries({ queryKey: ['session'] })
  void router.navigate({ to: '/sign-in', search: { next: href, ended: true }, replace: true })
})

whenSecondFactorDue(() => {
  const { pathname, href } = router.state.location
  if (pathname === '/second-factor') return
  void router.navigate({ to: '/second-factor', search: { next: href }, replace: true })
})

// Reconnected: everything on the page may be old.
let wasAway = false
connection.subscribe(() => {
  const { away } = connection.get()
  if (wasAway && !away) {
    void queryClient.invalidateQueries()
    void router.invalidate()
  }
  wasAway = away
})

// A page opened before an upgrade requests deleted files. A failure right after loading has another reason.
window.addEventListener('vite:preloadError', () => {
  if (performance.now() > 10_000) location.reload()
})

// Libraries add style elements, which the content policy allows with the nonce of the response only. The scroll lock of
// dialogs (get-nonce) reads it from this global variable.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
Object.assign(window, { __webpack_nonce__: nonce })

// The page around a frame chooses the theme of the frame.
const framed = location.pathname === '/embed' ? new URLSearchParams(location.search).get('theme') : null

function Themed({ children }: { children: ReactNode }) {
  const forced = usePrinting() ? 'light' : framed
  return (
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      {...((forced === 'dark' || forced === 'light') && { forceColorScheme: forced })}
      cssVariablesResolver={variables}
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  )
}

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <Themed>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Themed>
  </StrictMode>,
)
