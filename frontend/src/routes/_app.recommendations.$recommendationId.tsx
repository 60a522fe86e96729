import { createFileRoute } from '@tanstack/react-router'
import { RecommendationPage } from '~/features/recommendations/RecommendationPage'
import { recommendationSearch } from '~/features/recommendations/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/recommendations/$recommendationId')({
  staticData: { title: strings.recommendation, help: 'recommendations#requesting-moves' },
  validateSearch: recommendationSearch,
  component: RecommendationRoute,
})

function RecommendationRoute() {
  const { recommendationId } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <RecommendationPage
      recommendationId={recommendationId}
      search={search}
      onSearch={(patch) =>
        void navigate({
          search: (old) => recommendationSearch({ ...old, ...patch }),
          replace: true,
          resetScroll: false,
        })
      }
    />
  )
}
