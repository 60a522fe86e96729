import { createFileRoute } from '@tanstack/react-router'
import { FairnessPage } from '~/features/advisors/fairness/FairnessPage'
import { fairnessSearch } from '~/features/advisors/fairness/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/fairness')({
  staticData: { title: strings.fairness, help: 'advisors#fairness' },
  validateSearch: fairnessSearch,
  component: FairnessRoute,
})

function FairnessRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <FairnessPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => fairnessSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
