import { createFileRoute } from '@tanstack/react-router'
import { OverviewPage } from '~/features/overview/OverviewPage'
import { prefetchOverview } from '~/features/overview/prefetch'
import { firstMesh } from '~/features/shell/firstMesh'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/')({
  staticData: { title: strings.overview, help: 'console#overview', isForWalls: true, embed: 'overview' },
  // Without a mesh, the home page is the page that creates one.
  beforeLoad: async ({ context }) => {
    // Started here, it does not wait for the list of meshes.
    void prefetchOverview(context.queryClient)
    await firstMesh(context.queryClient)
  },
  component: OverviewPage,
})
