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
    if (await context.queryClient.ensureQueryData(sessionQuery)) return
    // Ask again at the next navigation: somebody may have signed in by then.
    context.queryClient.removeQueries({ queryKey: sessionQuery.queryKey })
    throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } })
  },
  loader: ({ context }) => context.queryClient.ensureQueryData(meshesQuery),
  component: Shell,
  // A page has a heading only inside the shell.
  pendingComponent: () => <Loading what="the page" />,
})
