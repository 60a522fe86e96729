import { createFileRoute } from '@tanstack/react-router'
import { FairnessPage } from '~/features/advisors/fairness/FairnessPage'
import { fairnessSearch } from '~/features/advisors/fairness/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/advisors/fairness')({
  staticData: { title: strings.fairness, help: 'advisors#fairness' },
  validateSearch: fairnessSearch,
  component: FairnessRoute,
})

function FairnessRoute() {
  return <FairnessPage search={Route.useSearch()} onSearch={useSearchPatch(fairnessSearch)} />
}
