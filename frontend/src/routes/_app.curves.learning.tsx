import { createFileRoute } from '@tanstack/react-router'
import { LearningPage } from '~/features/curves/LearningPage'
import { learningSearch } from '~/features/curves/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/curves/learning')({
  staticData: { title: strings.learningInProduction, help: 'curves#learning-in-production' },
  validateSearch: learningSearch,
  component: LearningRoute,
})

function LearningRoute() {
  return <LearningPage curve={Route.useSearch().curve} />
}
