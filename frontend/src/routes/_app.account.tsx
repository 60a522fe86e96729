import { createFileRoute } from '@tanstack/react-router'
import { AccountPage } from '~/features/account/AccountPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/account')({
  staticData: { title: strings.account, help: 'security#sign-in' },
  component: AccountPage,
})
