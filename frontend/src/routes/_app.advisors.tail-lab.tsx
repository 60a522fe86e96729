import { createFileRoute } from '@tanstack/react-router'
import { tailSearch } from '~/features/advisors/tail-lab/question'
import { TailLabPage } from '~/features/advisors/tail-lab/TailLabPage'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/advisors/tail-lab')({
  staticData: { title: strings.tailLab, help: 'tail-lab' },
  validateSearch: tailSearch,
  component: TailLabRoute,
})

function TailLabRoute() {
  return <TailLabPage search={Route.useSearch()} onSearch={useSearchPatch(tailSearch)} />
}
