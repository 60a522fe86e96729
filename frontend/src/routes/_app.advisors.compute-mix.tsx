import { createFileRoute } from '@tanstack/react-router'
import { ComputeMixPage } from '~/features/advisors/compute-mix/ComputeMixPage'
import { mixSearch } from '~/features/advisors/compute-mix/question'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/compute-mix')({
  staticData: { title: strings.computeMix, help: 'advisors#compute-mix' },
  validateSearch: mixSearch,
  component: ComputeMixRoute,
})

function ComputeMixRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <ComputeMixPage
      search={search}
      onSearch={(question) => void navigate({ search: mixSearch({ ...question }), resetScroll: false })}
    />
  )
}
