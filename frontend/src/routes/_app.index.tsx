import { createFileRoute, redirect } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'

export const Route = createFileRoute('/_app/')({
  // The overview of the first mesh is the home of the product; without one, setting it up is.
  beforeLoad: async ({ context }) => {
    const [first] = await context.queryClient.ensureQueryData(meshesQuery)
    if (!first) throw redirect({ to: '/onboarding' })
    throw redirect({ to: '/meshes/$meshId', params: { meshId: first.id } })
  },
})
