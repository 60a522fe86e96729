import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useCallback } from 'react'
import { EXPLORE_SPAN } from '~/api/explore'
import { meshQuery } from '~/api/meshes'
import { ExplorePage } from '~/features/explore/ExplorePage'
import { type ExploreSearch, exploreSearch } from '~/features/explore/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/meshes/$meshId/explore')({
  staticData: { title: strings.paths, help: 'agent-measurements', time: { span: EXPLORE_SPAN } },
  validateSearch: exploreSearch,
  component: ExploreRoute,
})

function ExploreRoute() {
  const { meshId } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const { data } = useSuspenseQuery(meshQuery(meshId))
  const onSearch = useCallback(
    (patch: ExploreSearch) =>
      void navigate({
        // Opening a row keeps the list; another choice has another list.
        search: ({ q, sort, page, ...old }) => ({
          ...(patch.spike === undefined ? {} : { q, sort, page }),
          ...exploreSearch({ ...old, ...patch }),
        }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  return <ExplorePage key={meshId} mesh={data.mesh} search={search} onSearch={onSearch} />
}
