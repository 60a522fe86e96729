import { createFileRoute } from '@tanstack/react-router'
import { tailSearch } from '~/features/advisors/tail-lab/question'
import { TailLabPage } from '~/features/advisors/tail-lab/TailLabPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/tail-lab')({
  staticData: { title: strings.tailLab, help: 'tail-lab' },
  validateSearch: tailSearch,
  component: TailLabRoute,
})

function TailLabRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <TailLabPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => tailSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
