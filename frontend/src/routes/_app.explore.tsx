import { createFileRoute, redirect } from '@tanstack/react-router'
import { firstMesh } from '~/features/shell/firstMesh'
import { strings } from '~/features/shell/strings'

/** The address that people type: it leads to the page of their first mesh. */
export const Route = createFileRoute('/_app/explore')({
  staticData: { title: strings.paths },
  beforeLoad: async ({ context, location }) => {
    const meshId = await firstMesh(context.queryClient)
    throw redirect({
      to: '/meshes/$meshId/explore',
      params: { meshId },
      search: location.search as never,
      replace: true,
    })
  },
})
