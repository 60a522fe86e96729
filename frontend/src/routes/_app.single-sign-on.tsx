import { createFileRoute } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'
import { SingleSignOnPage } from '~/features/tenant/SingleSignOnPage'

export const Route = createFileRoute('/_app/single-sign-on')({
  staticData: { title: strings.singleSignOn, help: 'security#a-tenants-identity-provider' },
  component: SingleSignOnPage,
})
