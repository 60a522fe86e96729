import { createFileRoute } from '@tanstack/react-router'
import { transportSearch } from '~/features/advisors/transport/question'
import { TransportPage } from '~/features/advisors/transport/TransportPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/transport')({
  staticData: { title: strings.transport, help: 'advisors#transport' },
  validateSearch: transportSearch,
  component: TransportRoute,
})

function TransportRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <TransportPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => transportSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
