import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { whatIfSearch } from '~/features/what-if/search'
import { WhatIfPage } from '~/features/what-if/WhatIfPage'

export const Route = createFileRoute('/_app/what-if')({
  staticData: { title: strings.whatIf, help: 'recommendations#what-if' },
  validateSearch: whatIfSearch,
  component: WhatIfRoute,
})

function WhatIfRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <WhatIfPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => whatIfSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
