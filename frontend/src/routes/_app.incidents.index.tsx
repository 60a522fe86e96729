import { createFileRoute } from '@tanstack/react-router'
import { IncidentsPage } from '~/features/alerts/incidents/IncidentsPage'
import { incidentsSearch } from '~/features/alerts/incidents/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/incidents/')({
  staticData: { title: strings.incidents, help: 'alerts#incidents' },
  validateSearch: incidentsSearch,
  component: IncidentsRoute,
})

function IncidentsRoute() {
  const { show = 'current' } = Route.useSearch()
  const patch = useSearchPatch(incidentsSearch)
  return <IncidentsPage show={show} onShow={(chosen) => patch({ show: chosen })} />
}
