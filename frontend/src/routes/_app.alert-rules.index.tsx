import { createFileRoute } from '@tanstack/react-router'
import { RulesPage } from '~/features/alerts/rules/RulesPage'
import { rulesSearch } from '~/features/alerts/rules/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/alert-rules/')({
  staticData: { title: strings.alertRules, help: 'alerts#rules' },
  validateSearch: rulesSearch,
  component: RulesRoute,
})

function RulesRoute() {
  const navigate = Route.useNavigate()
  const { mesh } = Route.useSearch()
  return (
    <RulesPage
      mesh={mesh}
      onMesh={(chosen) => void navigate({ search: (old) => rulesSearch({ ...old, mesh: chosen }), replace: true })}
    />
  )
}
