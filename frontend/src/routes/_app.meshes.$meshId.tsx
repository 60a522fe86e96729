import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute, Outlet } from '@tanstack/react-router'
import { useMeshLive } from '~/api/live'
import { meshQuery } from '~/api/meshes'

export const Route = createFileRoute('/_app/meshes/$meshId')({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(meshQuery(params.meshId)),
  component: MeshRoute,
})

function MeshRoute() {
  const { meshId } = Route.useParams()
  const { data } = useSuspenseQuery(meshQuery(meshId))
  useMeshLive(meshId, data.mesh.window_s)
  return <Outlet />
}
