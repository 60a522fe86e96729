import { createFileRoute } from '@tanstack/react-router'
import { RulePage } from '~/features/alerts/rules/RuleEditor'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/alert-rules/$ruleId')({
  staticData: { title: strings.alertRule, help: 'alerts#rules' },
  component: RuleRoute,
})

function RuleRoute() {
  return <RulePage ruleId={Route.useParams().ruleId} />
}
