import { createFileRoute } from '@tanstack/react-router'
import { OnboardingPage } from '~/features/onboarding/OnboardingPage'
import { onboardingSearch } from '~/features/onboarding/search'

export const Route = createFileRoute('/_app/onboarding')({
  validateSearch: onboardingSearch,
  component: OnboardingRoute,
})

function OnboardingRoute() {
  const { mesh } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <OnboardingPage
      meshId={mesh}
      onMesh={(id) => void navigate({ search: (old) => ({ ...old, mesh: id }), replace: true, resetScroll: false })}
    />
  )
}
