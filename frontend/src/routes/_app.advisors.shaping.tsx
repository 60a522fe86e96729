import { createFileRoute } from '@tanstack/react-router'
import { shapingSearch } from '~/features/advisors/shaping/question'
import { ShapingPage } from '~/features/advisors/shaping/ShapingPage'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/advisors/shaping')({
  staticData: { title: strings.shaping, help: 'advisors#shaping' },
  validateSearch: shapingSearch,
  component: ShapingRoute,
})

function ShapingRoute() {
  return <ShapingPage search={Route.useSearch()} onSearch={useSearchPatch(shapingSearch)} />
}
