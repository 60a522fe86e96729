import { createFileRoute } from '@tanstack/react-router'
import { shapingSearch } from '~/features/advisors/shaping/question'
import { ShapingPage } from '~/features/advisors/shaping/ShapingPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/shaping')({
  staticData: { title: strings.shaping, help: 'advisors#shaping' },
  validateSearch: shapingSearch,
  component: ShapingRoute,
})

function ShapingRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <ShapingPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => shapingSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
