import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '~/api/account'
import { Mark } from '~/ui/Logo'
import { pageStyles } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import styles from './account.module.css'
import { SecondFactorsPanel } from './SecondFactorsPanel'
import { strings } from './strings'

/** The page of a member whose tenant requires a second factor that the member does not have yet. */
export function RequiredSecondFactor({ onDone }: { onDone: () => void }) {
  const account = useQuery(accountQuery)
  return (
    <main className={styles.page}>
      <Mark size={36} />
      <h1>{strings.requiredTitle}</h1>
      {account.data ? (
        <>
          <p className={pageStyles.lead}>{strings.requiredLead(account.data.required_by.join(', '))}</p>
          <SecondFactorsPanel account={account.data} />
          {account.data.factors.length > 0 && <Button onClick={onDone}>{strings.goOn}</Button>}
        </>
      ) : account.error ? (
        <Failed what={strings.accountLower} error={account.error} retry={() => void account.refetch()} />
      ) : (
        <Loading what={strings.accountLower} />
      )}
    </main>
  )
}
