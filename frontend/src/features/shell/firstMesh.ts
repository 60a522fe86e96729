import type { QueryClient } from '@tanstack/react-query'
import { redirect } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'

/** Return the id of the first mesh; without a mesh, redirect to the page that creates one. */
export async function firstMesh(queryClient: QueryClient): Promise<string> {
  const [first] = await queryClient.ensureQueryData(meshesQuery)
  if (!first) throw redirect({ to: '/onboarding' })
  return first.id
}
