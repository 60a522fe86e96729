import { createFileRoute } from '@tanstack/react-router'
import { NewRulePage } from '~/features/alerts/rules/NewRulePage'
import { newRuleSearch } from '~/features/alerts/rules/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/alert-rules/new')({
  staticData: { title: strings.newAlertRule, help: 'alerts#rules' },
  validateSearch: newRuleSearch,
  component: NewRuleRoute,
})

function NewRuleRoute() {
  return <NewRulePage search={Route.useSearch()} />
}
