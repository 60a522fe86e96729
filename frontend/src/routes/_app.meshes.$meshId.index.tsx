import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import { MATRIX_SPAN, matrixQuery, shownOf } from '~/api/measurements'
import { meshQuery } from '~/api/meshes'
import { MatrixPage } from '~/features/matrix/MatrixPage'
import { type MatrixSearch, matrixSearch } from '~/features/matrix/search'
import { DaysOfMesh } from '~/features/overview/DaysOfMesh'
import { strings } from '~/features/shell/strings'
import type { Patch } from '~/lib/searchParams'
import { NOW } from '~/lib/spans'

export const Route = createFileRoute('/_app/meshes/$meshId/')({
  staticData: {
    title: strings.heatmap,
    help: 'console#heatmap',
    isForWalls: true,
    embed: 'heatmap',
    time: { span: MATRIX_SPAN, isLive: true, compares: true },
  },
  validateSearch: matrixSearch,
  loaderDeps: ({ search }) => shownOf(search),
  loader: ({ context, params, deps }) => {
    // Start the query here; the page waits for it and keeps its content meanwhile.
    void context.queryClient.prefetchQuery(matrixQuery(params.meshId, deps))
  },
  component: MatrixRoute,
})

function MatrixRoute() {
  const { meshId } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const { data } = useSuspenseQuery(meshQuery(meshId))
  const router = useRouter()
  const onSearch = useCallback(
    async (patch: Patch<MatrixSearch>, isStep = false) => {
      // A delayed update of the URL, such as the cursor's, must not undo a navigation that has begun.
      if (router.latestLocation.pathname.replace(/\/$/, '') !== `/meshes/${meshId}`) return
      // A step of the playback takes the place of a range.
      const time = patch.at ? NOW : {}
      const next = (old: MatrixSearch) => ({ ...matrixSearch({ ...old, ...patch }), ...time })
      await navigate({ search: next, replace: !isStep, resetScroll: false })
    },
    [navigate, router, meshId],
  )
  return (
    <MatrixPage
      key={meshId}
      mesh={data.mesh}
      search={search}
      onSearch={onSearch}
      days={<DaysOfMesh mesh={data.mesh} shown={search} />}
    />
  )
}
