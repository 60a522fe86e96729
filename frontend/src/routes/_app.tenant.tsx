import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { TenantPage } from '~/features/tenant/TenantPage'

export const Route = createFileRoute('/_app/tenant')({
  staticData: { title: strings.tenant, help: 'security#roles-and-members' },
  component: TenantPage,
})
