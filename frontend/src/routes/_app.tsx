import { createFileRoute, redirect, retainSearchParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { sessionQuery } from '~/api/access'
import { labsQuery } from '~/api/labs'
import { meshesQuery } from '~/api/meshes'
import { useSessionEnded } from '~/api/sessionEnd'
import { Shell } from '~/features/shell/Shell'
import { appSearch, RETAINED } from '~/lib/searchParams'
import { Loading } from '~/ui/State'

export const Route = createFileRoute('/_app')({
  validateSearch: appSearch,
  search: { middlewares: [retainSearchParams([...RETAINED])] },
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session?.second_factor_due) throw redirect({ to: '/second-factor', search: { next: location.href } })
    if (session) return { isPublic: false }
    // Ask again at the next navigation: somebody may have signed in by then.
    context.queryClient.removeQueries({ queryKey: sessionQuery.queryKey })
    if (/^\/help(\/|$)/.test(location.pathname)) return { isPublic: true }
    throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } })
  },
  loader: async ({ context: { queryClient, isPublic } }) => {
    if (isPublic) return
    // What it says above a page moves nothing when it is there in time; when it is late, pages do not wait.
    const labs = Promise.race([queryClient.prefetchQuery(labsQuery), new Promise((done) => setTimeout(done, 300))])
    await Promise.all([queryClient.ensureQueryData(meshesQuery), labs])
  },
  component: App,
  // A page has a heading only inside the shell. Once it is shown, this stays until the page is loaded as well: only for
  // a session that is very late, so that the shell comes before the page otherwise.
  pendingComponent: () => <Loading what="the page" />,
  pendingMs: 2_000,
})

const PublicHelp = lazy(() => import('~/features/shell/PublicHelp'))
const SessionEnded = lazy(() => import('~/features/session/SessionEnded'))

function App() {
  const hasEnded = useSessionEnded()
  const { isPublic } = Route.useRouteContext()
  if (isPublic)
    return (
      <Suspense>
        <PublicHelp />
      </Suspense>
    )
  return (
    <>
      <Shell />
      {hasEnded && (
        <Suspense>
          <SessionEnded />
        </Suspense>
      )}
    </>
  )
}
