import { createFileRoute } from '@tanstack/react-router'
import { transferSearch } from '~/features/advisors/transfers/question'
import { TransfersPage } from '~/features/advisors/transfers/TransfersPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/transfers')({
  staticData: { title: strings.transfers, help: 'advisors#transfers' },
  validateSearch: transferSearch,
  component: TransfersRoute,
})

function TransfersRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <TransfersPage
      search={search}
      onSearch={(question) => void navigate({ search: transferSearch({ ...question }), resetScroll: false })}
    />
  )
}
