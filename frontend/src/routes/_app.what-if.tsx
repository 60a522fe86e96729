import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { whatIfSearch } from '~/features/what-if/search'
import { WhatIfPage } from '~/features/what-if/WhatIfPage'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/what-if')({
  staticData: { title: strings.whatIf, help: 'recommendations#what-if' },
  validateSearch: whatIfSearch,
  component: WhatIfRoute,
})

function WhatIfRoute() {
  return <WhatIfPage search={Route.useSearch()} onSearch={useSearchPatch(whatIfSearch)} />
}
