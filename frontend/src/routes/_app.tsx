import { createFileRoute, redirect, retainSearchParams } from '@tanstack/react-router'
import { sessionQuery } from '~/api/access'
import { meshesQuery } from '~/api/meshes'
import { Shell } from '~/features/shell/Shell'
import { appSearch, RETAINED } from '~/lib/searchParams'
import { Loading } from '~/ui/State'

export const Route = createFileRoute('/_app')({
  validateSearch: appSearch,
  search: { middlewares: [retainSearchParams([...RETAINED])] },
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session?.second_factor_due) throw redirect({ to: '/second-factor', search: { next: location.href } })
    if (session) return
    // Ask again at the next navigation: somebody may have signed in by then.
    context.queryClient.removeQueries({ queryKey: sessionQuery.queryKey })
    throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } })
  },
  loader: ({ context }) => context.queryClient.ensureQueryData(meshesQuery),
  component: Shell,
  // A page has a heading only inside the shell.
  pendingComponent: () => <Loading what="the page" />,
})
