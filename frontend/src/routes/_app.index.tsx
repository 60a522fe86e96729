import { createFileRoute, redirect } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'
import { OverviewPage } from '~/features/overview/OverviewPage'
import { prefetchOverview } from '~/features/overview/prefetch'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/')({
  staticData: { title: strings.overview, help: 'console#overview', isForWalls: true, embed: 'overview' },
  // Without a mesh, the home page is the page that creates one.
  beforeLoad: async ({ context }) => {
    const [first] = await context.queryClient.ensureQueryData(meshesQuery)
    if (!first) throw redirect({ to: '/onboarding' })
  },
  loader: ({ context }) => {
    void prefetchOverview(context.queryClient)
  },
  component: OverviewPage,
})
