import { createFileRoute } from '@tanstack/react-router'
import { RecommendationPage } from '~/features/recommendations/RecommendationPage'
import { recommendationSearch } from '~/features/recommendations/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/recommendations/$recommendationId')({
  staticData: { title: strings.recommendation, help: 'recommendations#requesting-moves' },
  validateSearch: recommendationSearch,
  component: RecommendationRoute,
})

function RecommendationRoute() {
  const { recommendationId } = Route.useParams()
  return (
    <RecommendationPage
      recommendationId={recommendationId}
      search={Route.useSearch()}
      onSearch={useSearchPatch(recommendationSearch)}
    />
  )
}
