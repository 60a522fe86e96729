import { createFileRoute, redirect, retainSearchParams } from '@tanstack/react-router'
import { sessionQuery } from '~/api/access'
import { meshesQuery } from '~/api/meshes'
import { Shell } from '~/features/shell/Shell'
import { Problem } from '~/lib/problem'
import { appSearch } from '~/lib/searchParams'

export const Route = createFileRoute('/_app')({
  validateSearch: appSearch,
  search: { middlewares: [retainSearchParams(['tz'])] },
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery)
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } })
    }
  },
  loader: ({ context }) => context.queryClient.ensureQueryData(meshesQuery),
  component: Shell,
})
