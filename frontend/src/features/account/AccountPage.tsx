import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'
import { accountQuery } from '~/api/account'
import { Page } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { NamePanel } from './NamePanel'
import { PasswordPanel } from './PasswordPanel'
import { PolicyPanel } from './PolicyPanel'
import { SecondFactorsPanel } from './SecondFactorsPanel'
import { SessionsPanel } from './SessionsPanel'
import { strings } from './strings'

/** The account of the signed-in person. */
export function AccountPage() {
  const account = useQuery(accountQuery)
  const { data: session } = useQuery(sessionQuery)
  if (!account.data) return <Unloaded query={account} title={strings.account} what={strings.accountLower} />
  return (
    <Page title={strings.account} lead={strings.accountLead(account.data.user.email)}>
      {account.data.of_one_tenant ? (
        <Notice tone="info">{strings.ofOneTenant(session?.tenant.name ?? '')}</Notice>
      ) : (
        <>
          <NamePanel account={account.data} />
          <PasswordPanel account={account.data} />
          <SecondFactorsPanel account={account.data} />
        </>
      )}
      <SessionsPanel />
      {(session?.role === 'owner' || session?.role === 'admin') && <PolicyPanel />}
    </Page>
  )
}
