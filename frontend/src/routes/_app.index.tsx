import { createFileRoute, redirect } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'

export const Route = createFileRoute('/_app/')({
  // The home page is the heatmap of the first mesh; without a mesh, the page that creates one.
  beforeLoad: async ({ context }) => {
    const [first] = await context.queryClient.ensureQueryData(meshesQuery)
    if (!first) throw redirect({ to: '/onboarding' })
    throw redirect({ to: '/meshes/$meshId', params: { meshId: first.id } })
  },
})
