import { createFileRoute } from '@tanstack/react-router'
import { transportSearch } from '~/features/advisors/transport/question'
import { TransportPage } from '~/features/advisors/transport/TransportPage'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/advisors/transport')({
  staticData: { title: strings.transport, help: 'advisors#transport' },
  validateSearch: transportSearch,
  component: TransportRoute,
})

function TransportRoute() {
  return <TransportPage search={Route.useSearch()} onSearch={useSearchPatch(transportSearch)} />
}
