import { createFileRoute } from '@tanstack/react-router'
import { OnboardingPage } from '~/features/onboarding/OnboardingPage'
import { onboardingSearch } from '~/features/onboarding/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/onboarding')({
  staticData: { title: strings.addVm, help: 'agent#install' },
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
