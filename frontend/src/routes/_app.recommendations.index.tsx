import { createFileRoute } from '@tanstack/react-router'
import { RecommendationsPage } from '~/features/recommendations/RecommendationsPage'
import { findMovesSearch } from '~/features/recommendations/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/recommendations/')({
  staticData: { title: strings.recommendations, help: 'recommendations#requesting-moves' },
  validateSearch: findMovesSearch,
  component: () => <RecommendationsPage search={Route.useSearch()} />,
})
