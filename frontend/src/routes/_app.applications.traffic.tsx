import { createFileRoute } from '@tanstack/react-router'
import { TrafficPage } from '~/features/applications/TrafficPage'
import { strings } from '~/features/shell/strings'
import { identifier, searchParser } from '~/lib/searchParams'

const trafficSearch = searchParser<{ mesh?: string }>({ mesh: identifier })

export const Route = createFileRoute('/_app/applications/traffic')({
  staticData: { title: strings.foundInTraffic, help: 'recommendations#found-in-traffic' },
  validateSearch: trafficSearch,
  component: function Traffic() {
    const navigate = Route.useNavigate()
    const { mesh } = Route.useSearch()
    return <TrafficPage mesh={mesh} onMesh={(next) => void navigate({ search: trafficSearch({ mesh: next }) })} />
  },
})
