import { createFileRoute } from '@tanstack/react-router'
import { RulePage } from '~/features/alerts/rules/RuleEditor'

export const Route = createFileRoute('/_app/alert-rules/$ruleId')({ component: RuleRoute })

function RuleRoute() {
  return <RulePage ruleId={Route.useParams().ruleId} />
}
