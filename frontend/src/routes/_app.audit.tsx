import { createFileRoute } from '@tanstack/react-router'
import { AuditPage } from '~/features/audit/AuditPage'
import { auditSearch } from '~/features/audit/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/audit')({
  staticData: { title: strings.auditLog, help: 'security#audit-log' },
  validateSearch: auditSearch,
  component: AuditRoute,
})

function AuditRoute() {
  const navigate = Route.useNavigate()
  return (
    <AuditPage
      selection={Route.useSearch()}
      onSelect={(selection) => void navigate({ search: auditSearch({ ...selection }) })}
    />
  )
}
