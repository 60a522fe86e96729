import { createFileRoute } from '@tanstack/react-router'
import { IncidentsPage } from '~/features/alerts/incidents/IncidentsPage'
import { incidentsSearch } from '~/features/alerts/incidents/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/incidents/')({
  staticData: { title: strings.incidents, help: 'alerts#incidents' },
  validateSearch: incidentsSearch,
  component: IncidentsRoute,
})

function IncidentsRoute() {
  const navigate = Route.useNavigate()
  const { show = 'current' } = Route.useSearch()
  return (
    <IncidentsPage
      show={show}
      onShow={(chosen) => void navigate({ search: (old) => incidentsSearch({ ...old, show: chosen }), replace: true })}
    />
  )
}
