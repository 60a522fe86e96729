import { createFileRoute } from '@tanstack/react-router'
import { RulesPage } from '~/features/alerts/rules/RulesPage'
import { rulesSearch } from '~/features/alerts/rules/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/alert-rules/')({
  staticData: { title: strings.alertRules, help: 'alerts#rules' },
  validateSearch: rulesSearch,
  component: RulesRoute,
})

function RulesRoute() {
  const { mesh } = Route.useSearch()
  const patch = useSearchPatch(rulesSearch)
  return <RulesPage mesh={mesh} onMesh={(chosen) => patch({ mesh: chosen })} />
}
