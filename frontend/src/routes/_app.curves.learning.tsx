import { createFileRoute } from '@tanstack/react-router'
import { LearningPage } from '~/features/curves/LearningPage'
import { learningSearch } from '~/features/curves/search'

export const Route = createFileRoute('/_app/curves/learning')({
  validateSearch: learningSearch,
  component: LearningRoute,
})

function LearningRoute() {
  return <LearningPage curve={Route.useSearch().curve} />
}
