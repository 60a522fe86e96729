import { createFileRoute } from '@tanstack/react-router'
import { RecommendationsPage } from '~/features/recommendations/RecommendationsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/recommendations/')({
  staticData: { title: strings.recommendations, help: 'recommendations#requesting-moves' },
  component: RecommendationsPage,
})
